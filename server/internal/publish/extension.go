package publish

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/recorder"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// extensionID names the Skills extension (SEP-2640) among the capabilities.
const extensionID = "io.modelcontextprotocol/skills"

// Capability says that resources/directory/read works too.
var Capability = map[string]any{extensionID: map[string]any{"directoryRead": true}}

// A page of skills/list ends at the first of these limits. Entries are never
// split.
const (
	maxListedSkills    = 100
	maxListedResources = 2000
	maxListedChildren  = 500
)

// Methods returns the methods that SEP-2640 adds.
func (p *Publisher) Methods() map[string]router.Method {
	return map[string]router.Method{
		"skills/list":              p.method("skills/list", p.listSkills),
		"skills/get":               p.method("skills/get", p.getSkill),
		"resources/directory/read": p.method("resources/directory/read", p.readDirectory),
	}
}

// method returns what serves a method by what returns the fields of its result.
func (p *Publisher) method(name string, serve func(context.Context, pageParams) (any, error)) router.Method {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var params pageParams
		result, err := recorder.Record(ctx, p.Recorder, recorder.Request{Event: audit.Read, Method: name, Input: raw}, func(ctx context.Context) (any, error) {
			if len(raw) > 0 && json.Unmarshal(raw, &params) != nil {
				return nil, failure.New(failure.InvalidArguments, "Send params as an object with strings.", "the params cannot be read")
			}
			return serve(ctx, params)
		})
		if err != nil {
			f := about(params.URI, err)
			f.Log(p.Log, name)
			return nil, f
		}
		return result, nil
	}
}

// skillEntry is SEP-2640's Skill.
type skillEntry struct {
	URI         string          `json:"uri"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	Resources   []skillFile     `json:"resources"`

	skill *catalog.Skill // of which it was made
	files []string       // the paths of Resources
}

// skillFile is SEP-2640's SkillResource.
type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

type pageParams struct {
	URI    string     `json:"uri"`
	Cursor mcp.Cursor `json:"cursor"`
}

// listSkills serves skills/list. The cursor is the last name of the page
// before, so that across a reload each skill that stays is given once.
func (p *Publisher) listSkills(ctx context.Context, params pageParams) (any, error) {
	all, err := skillsAfter(p.Skills.Snapshot().Skills(), params.Cursor)
	if err != nil {
		return nil, err
	}
	result := struct {
		Skills     []skillEntry `json:"skills"`
		NextCursor mcp.Cursor   `json:"nextCursor,omitempty"`
	}{Skills: []skillEntry{}}
	files := 0
	for i, skill := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(result.Skills) == maxListedSkills || files >= maxListedResources {
			result.NextCursor = encodeCursor(all[i-1].Name)
			break
		}
		entry, err := p.entry(ctx, skill)
		if err != nil {
			p.Log.Warn("skill is not published to skills/list", "skill", skill.Name, "reason", err)
			continue
		}
		if fault := entry.fault(); fault != "" {
			p.Log.Debug("skill is left out of skills/list", "skill", skill.Name, "reason", fault)
			continue
		}
		files += len(entry.Resources)
		result.Skills = append(result.Skills, entry)
	}
	return result, nil
}

// getSkill serves skills/get.
func (p *Publisher) getSkill(ctx context.Context, params pageParams) (any, error) {
	skill, file, err := resources.Resolve(p.Skills.Snapshot(), params.URI)
	if err != nil {
		return nil, err
	}
	skills.Note(ctx, skill)
	if file != skill.Entry {
		return nil, failure.New(failure.SkillNotFound, "Give the URI of a skill's SKILL.md.", "no skill is served at that URI")
	}
	entry, err := p.entry(ctx, skill)
	if err != nil {
		return nil, err
	}
	return struct {
		Skill skillEntry `json:"skill"`
	}{entry}, nil
}

// maxEntryAttempts is how often an entry is made of a skill that changes
// meanwhile.
const maxEntryAttempts = 10

// entry makes a skill's entry from what is on disk now: frontmatter and
// digests are of the same bytes.
func (p *Publisher) entry(ctx context.Context, skill *catalog.Skill) (skillEntry, error) {
	for range maxEntryAttempts {
		var err error
		if skill, err = p.fresh(ctx, skill); err != nil {
			return skillEntry{}, err
		}
		manifest, err := p.Skills.Digests.Manifest(ctx, skill)
		if errors.Is(err, contained.ErrChanged) {
			continue
		}
		if err != nil {
			return skillEntry{}, overLimit(skill, err)
		}
		if !skill.Stale() {
			return newEntry(skill, manifest), nil
		}
	}
	return skillEntry{}, failure.New(failure.Internal, "Ask again when its author has stopped writing.", "the skill %q changes all the time", skill.Name)
}

// fresh returns a skill as its entry document stood a moment ago. That it is
// stale even so means that it was written again, or that it is broken and
// the catalog keeps the last good version, which is not what is on disk.
func (p *Publisher) fresh(ctx context.Context, skill *catalog.Skill) (*catalog.Skill, error) {
	if !skill.Stale() {
		return skill, nil
	}
	fresh, err := p.Skills.Find(ctx, skill.Name)
	if err != nil || !fresh.Stale() {
		return fresh, err
	}
	dir, err := skills.Open(fresh)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	read, err := skills.ReadInstructions(fresh, dir)
	if err == nil && read.Fault != "" {
		err = failure.New(failure.InvalidFrontmatter, "The author has to correct it.", "skill %q is broken as it stands now: %s", fresh.Name, read.Fault)
	}
	return fresh, err
}

// overLimit says which limit of the extension a skill is beyond.
func overLimit(skill *catalog.Skill, err error) error {
	limit, ok := errors.AsType[*resources.LimitError](err)
	if !ok {
		return err
	}
	return &failure.Failure{Code: failure.TooLarge, Message: fmt.Sprintf("skill %q is not published: %v", skill.Name, limit),
		Hint: "The tools still serve it; its author can make it smaller.", Cause: err}
}

func newEntry(skill *catalog.Skill, files []resources.File) skillEntry {
	entry := skillEntry{
		URI:         resources.URI(skill, skill.Entry),
		Frontmatter: skill.Frontmatter,
		Resources:   make([]skillFile, 0, len(files)),
		skill:       skill,
	}
	for _, file := range files {
		entry.files = append(entry.files, file.Path)
		entry.Resources = append(entry.Resources, skillFile{resources.URI(skill, file.Path), file.Digest, file.Size})
	}
	return entry
}

func encodeCursor(last string) mcp.Cursor {
	return mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(last)))
}

func decodeCursor(cursor mcp.Cursor) (string, error) {
	last, err := base64.StdEncoding.DecodeString(string(cursor))
	if err != nil {
		return "", failure.New(failure.InvalidCursor, "Start again without a cursor.", "that cursor is none of this server's")
	}
	return string(last), nil
}

// about returns a failure with the URI that it is about.
func about(uri string, err error) *failure.Failure {
	f := *failure.Of(err)
	f.URI = uri
	return &f
}
