package granted

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/userfiles"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/resources/staging"
)

// Skill is a skill as it is now.
type Skill struct {
	Name string
	// Root and Place are where it lies, and Digest is its version. Place is its own
	// directory, or its archive.
	Root, Place, Digest string
}

// Find finds a skill of the roots that are in force.
func Find(ctx context.Context, s *settings.Settings, name string) (Skill, error) {
	roots, err := s.CatalogRoots()
	if err != nil {
		return Skill{}, err
	}
	log := slog.New(slog.DiscardHandler)
	skills, err := catalog.Open(ctx, catalog.Options{Roots: roots, Strict: s.IsStrict(), Spec: s.Validation == "spec", MaxSkills: s.MaxSkills, Hides: s.Hides, Logger: log})
	if err != nil {
		return Skill{}, err
	}
	defer skills.Close()
	found, ok := skills.Snapshot().Lookup(name)
	if !ok {
		return Skill{}, fmt.Errorf("there is no skill %q; 'skills-mcp list' shows those there are", name)
	}
	copies, err := staging.New("", log)
	if err != nil {
		return Skill{}, err
	}
	defer copies.Close()
	copies.Withheld = userfiles.Withheld(s)
	copied, err := copies.Take(ctx, found.Dir)
	if err != nil {
		return Skill{}, fmt.Errorf("the skill %q cannot be read: %w", name, err)
	}
	defer copied.Release()
	return Skill{Name: found.Name, Root: skills.Root(found).Path, Place: found.Place(), Digest: copied.Digest}, nil
}

// Grant adds to what a skill is granted, and confirms what it has for its version
// of now. It returns what it is granted then.
func Grant(s *settings.Settings, skill Skill, texts Texts) (config.Grants, error) {
	added, err := texts.parse()
	if err != nil {
		return config.Grants{}, err
	}
	if _, at, found := s.OwnGrants(skill.Name); found {
		return config.Grants{}, fmt.Errorf("what %s is granted stands in your own file, at %s, which this program does not change; its version is %s", skill.Name, at, skill.Digest)
	}
	var after config.Grants
	err = s.Granted.Change(func(all map[string]config.Grants) error {
		after = all[skill.Name]
		if err := skill.mayAdd(after, added); err != nil {
			return err
		}
		if after.None() {
			after.Root = skill.Place // whatever else comes to lie in its root may take its name
		}
		add(&after, added)
		after.Digest = skill.Digest
		if after.None() {
			return fmt.Errorf("%s is granted nothing; name what to grant, such as --host HOST", skill.Name)
		}
		all[skill.Name] = after
		return nil
	})
	return after, err
}

// mayAdd refuses to add to what is granted to another skill of the name, or to
// another version of it that nobody has looked at.
func (skill Skill) mayAdd(before, added config.Grants) error {
	if before.None() {
		return nil
	}
	root, err := settings.ExpandHome(before.Root)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{skill.Root, skill.Place}, root) {
		return fmt.Errorf("what %s is granted is for the one in %s, and this one is in %s; 'skills-mcp revoke %s' takes it back first",
			skill.Name, before.Root, skill.Place, shellword.Name(skill.Name))
	}
	pinned := before.Pin == config.PinDigest || before.Pin == "" && len(before.Secrets) > 0
	if pinned && before.Digest != skill.Digest && !added.None() {
		return fmt.Errorf("%s has changed since it was granted %s; look at it, and confirm that first with 'skills-mcp grant %s'",
			skill.Name, strings.Join(Lines(before), ", "), shellword.Name(skill.Name))
	}
	return nil
}

// errNotGranted is what there is nothing of to revoke.
var errNotGranted = errors.New("nothing is granted to it")

// Revoke takes away what texts name of what a skill is granted, or all where they
// name nothing, and returns what is left.
func Revoke(s *settings.Settings, name string, texts Texts) (left config.Grants, err error) {
	if _, at, found := s.OwnGrants(name); found {
		return left, fmt.Errorf("what %s is granted stands in your own file, at %s, which this program does not change: take it out there", name, at)
	}
	err = s.Granted.Change(func(all map[string]config.Grants) error {
		before := all[name]
		if before.None() {
			return fmt.Errorf("%s: %w; 'skills-mcp grants' lists what is", name, errNotGranted)
		}
		delete(all, name)
		if texts.Empty() {
			return nil
		}
		if err := subtract(&before, texts); err != nil {
			return fmt.Errorf("%w to %s; 'skills-mcp grants' lists what is", err, name)
		}
		if left = before; !left.None() {
			all[name] = left
		}
		return nil
	})
	return left, err
}

// NothingGranted reports whether there was nothing to revoke.
func NothingGranted(err error) bool { return errors.Is(err, errNotGranted) }
