// Package hosted keeps skills with the Claude API, where containers of the API
// have them, and runs them there.
package hosted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
)

// Host is the API, and what is known of this machine's skills there.
type Host struct {
	*anthropic.Client
	pins    pins
	secrets *secrets.Store
	pushing sync.Mutex
}

// Open returns the API that the configuration names. Nothing is asked of it yet.
// The caller closes it.
func Open(s *settings.Settings, log *slog.Logger) (*Host, error) {
	file, err := pinsFile()
	if err != nil {
		return nil, err
	}
	store := secrets.New(secrets.Options{Redact: s.Redact, Logger: log})
	client, err := anthropic.New(anthropic.Options{
		BaseURL: cmp.Or(s.Hosted.BaseURL, os.Getenv("ANTHROPIC_BASE_URL")),
		Key: func(ctx context.Context) (string, error) {
			key, err := store.Value(ctx, "the API key", s.Hosted.Key)
			if fault, ok := errors.AsType[*secrets.Error](err); ok {
				return "", fmt.Errorf("%s (its source is %s)", fault.Reason, fault.Kind)
			}
			return key, err
		},
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Host{Client: client, pins: pins{file, client.BaseURL()}, secrets: store}, nil
}

// Close forgets the key.
func (h *Host) Close() error { return h.secrets.Close() }

// Explained adds to an error what the user can do about it.
func Explained(err error) error {
	if hint := anthropic.Hint(err); hint != "" {
		return fmt.Errorf("%w\n%s", err, hint)
	}
	return err
}

// isID reports whether a text is an id of the API and no name of a skill, which
// has no underscores.
func isID(text string) bool { return strings.HasPrefix(text, "skill_") }

// Resolve returns the id of a skill that is named by it or by its name.
func (h *Host) Resolve(ctx context.Context, nameOrID string) (string, error) {
	if isID(nameOrID) {
		return nameOrID, nil
	}
	pin, err := h.pins.get(nameOrID)
	if err == nil && pin.Skill == "" {
		pin.Skill, err = h.find(ctx, nameOrID)
	}
	if err == nil && pin.Skill == "" {
		err = fmt.Errorf("the API has no skill %q: 'skills-mcp hosted list' shows which it has", nameOrID)
	}
	return pin.Skill, err
}

// find returns the id of the user's skill of a name, or nothing. Labels are not
// unique: a skill whose versions have another name is not meant.
func (h *Host) find(ctx context.Context, name string) (string, error) {
	for skill, err := range h.Skills(ctx, "custom") {
		if err != nil {
			return "", err
		}
		if skill.DisplayName != name {
			continue
		}
		version, err := h.Version(ctx, skill.ID, skill.LatestVersionID)
		if err != nil {
			return "", err
		}
		if version.Name == name {
			return skill.ID, nil
		}
	}
	return "", nil
}

// Delete deletes a skill with all its versions, and returns how many these were.
func (h *Host) Delete(ctx context.Context, id string) (versions int, err error) {
	var ids []string
	for version, err := range h.Versions(ctx, id) {
		if err != nil {
			return 0, err
		}
		ids = append(ids, version.ID)
	}
	for _, version := range ids {
		if err := h.DeleteVersion(ctx, id, version); err != nil {
			return versions, err
		}
		versions++
	}
	if err := h.DeleteSkill(ctx, id); err != nil {
		return versions, err
	}
	return versions, h.pins.forget(id)
}

// Container returns what a caller of the Messages API writes to have skills in a
// container, each in the version that was pushed.
func (h *Host) Container(skills []*catalog.Skill, digest func(*catalog.Skill) (string, error)) (*anthropic.ContainerParams, error) {
	if len(skills) > anthropic.MaxContainerSkills {
		return nil, fmt.Errorf("a container has %d skills at most", anthropic.MaxContainerSkills)
	}
	params := &anthropic.ContainerParams{}
	for _, skill := range skills {
		pin, err := h.pins.get(skill.Name)
		if err != nil {
			return nil, err
		}
		now, err := digest(skill)
		if err != nil {
			return nil, err
		}
		if pin.Digest != now {
			return nil, fmt.Errorf("the skill %q was not pushed as it is now: run 'skills-mcp hosted push %[1]s'", skill.Name)
		}
		params.Skills = append(params.Skills, anthropic.ContainerSkill{Type: "custom", SkillID: pin.Skill, Version: pin.Version})
	}
	return params, nil
}
