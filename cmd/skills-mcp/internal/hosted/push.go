package hosted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/userfiles"
	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/resources/staging"
)

// What a push did.
const (
	Created   = "created"
	Updated   = "new version"
	Unchanged = "unchanged"
)

// Pushed is a skill that the API has as it is on this machine.
type Pushed struct {
	Name    string `json:"name"`
	Skill   string `json:"skill_id"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
	// Did is [Created], [Updated] or [Unchanged].
	Did string `json:"did"`
}

// Push uploads a skill where the API does not have it as it is now, as a new
// version of the skill that it was pushed to before, or of the user's skill of
// that name. Files that may be secret go only withHidden.
func (h *Host) Push(ctx context.Context, copies *staging.Copies, skill *catalog.Skill, withHidden bool) (Pushed, error) {
	copied, err := copies.Take(ctx, skill.Dir)
	if err != nil {
		return Pushed{}, err
	}
	defer copied.Release()
	return h.push(ctx, skill.Name, copied, withHidden)
}

// push is Push of a copy of a skill. Of two at once, one waits.
func (h *Host) push(ctx context.Context, name string, copied *staging.Copy, withHidden bool) (Pushed, error) {
	h.pushing.Lock()
	defer h.pushing.Unlock()
	pushed := Pushed{Name: name, Digest: copied.Digest, Did: Unchanged}
	last, err := h.standing(ctx, name)
	if err != nil {
		return Pushed{}, err
	}
	if last.Digest != copied.Digest {
		files, err := filesOf(copied.Dir, name, withHidden)
		if err != nil {
			return Pushed{}, err
		}
		if last, pushed.Did, err = h.upload(ctx, last.Skill, files); err != nil {
			return Pushed{}, err
		}
		last.Digest = copied.Digest
		if err := h.pins.set(name, last); err != nil {
			return Pushed{}, err
		}
	}
	pushed.Skill, pushed.Version = last.Skill, last.Version
	return pushed, nil
}

// standing returns the pin of a skill where the API still has that version, else
// only the id of the skill, or nothing where there is none.
func (h *Host) standing(ctx context.Context, name string) (pin, error) {
	last, err := h.pins.get(name)
	if err != nil {
		return pin{}, err
	}
	if last.Skill != "" {
		_, err := h.Version(ctx, last.Skill, last.Version)
		if err == nil || !isMissing(err) {
			return last, err
		}
		if _, err = h.Skill(ctx, last.Skill); err == nil || !isMissing(err) {
			return pin{Skill: last.Skill}, err
		}
	}
	id, err := h.find(ctx, name)
	return pin{Skill: id}, err
}

func isMissing(err error) bool {
	refused, ok := errors.AsType[*anthropic.Error](err)
	return ok && refused.Status == http.StatusNotFound
}

// upload makes a version of a skill, or a skill where id is empty.
func (h *Host) upload(ctx context.Context, id string, files []anthropic.SkillFile) (pin, string, error) {
	if id == "" {
		skill, err := h.CreateSkill(ctx, files)
		return pin{Skill: skill.ID, Version: skill.LatestVersionID}, Created, err
	}
	version, err := h.CreateVersion(ctx, id, files)
	return pin{Skill: id, Version: version.ID}, Updated, err
}

// filesOf reads a copy of a skill, which has no more than an upload may have.
func filesOf(dir, name string, withHidden bool) (files []anthropic.SkillFile, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !withHidden {
		if err := userfiles.CheckNames(root.FS()); err != nil {
			return nil, err
		}
	}
	total := int64(0)
	err = fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if total += info.Size(); total > anthropic.MaxUploadBytes {
			return fmt.Errorf("the skill %q has more than %d MB, which the API does not take", name, anthropic.MaxUploadBytes/1_000_000)
		}
		data, err := root.ReadFile(file)
		files = append(files, anthropic.SkillFile{Path: path.Join(name, file), Data: data})
		return err
	})
	return files, err
}
