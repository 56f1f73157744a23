// Package changesets lists, shows and applies what programs changed in files of
// the user, for the commands that do.
package changesets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

// OpenStore opens the change sets of this user.
func OpenStore(log *slog.Logger) (*changes.Store, error) {
	dir, err := statedir.Path("changes")
	if err != nil {
		return nil, err
	}
	return changes.Open(dir, changes.Options{Logger: log, Wait: server.DefaultShareWait})
}

// Open reads the configuration and opens the change sets, for a command.
func Open(s *settings.Settings, stderr io.Writer) (*changes.Store, error) {
	s.Quiet, s.Anywhere = true, true // a change set knows its project
	if err := s.Read(nil); err != nil {
		return nil, err
	}
	log, err := s.Logger(stderr)
	if err != nil {
		return nil, err
	}
	return OpenStore(log)
}

// ListOr returns what a command does that lists all where no id is given.
func ListOr(s *settings.Settings, asJSON *bool, list func(*cobra.Command, *changes.Store, bool) error, one func(*cobra.Command, *changes.Store, string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		store, err := Open(s, command.ErrOrStderr())
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return list(command, store, *asJSON)
		}
		return one(command, store, args[0])
	}
}

// Set is a change set under the rules of the configuration and of its project.
type Set struct {
	set      *changes.Set
	id       string               // of what is held, as it was given
	judge    func() changes.Judge // for one look at the set
	settings *settings.Settings
}

// OpenSet opens the change set of an id. The caller closes it.
func OpenSet(s *settings.Settings, store *changes.Store, id string) (*Set, error) {
	set, err := store.Open(id)
	if errors.Is(err, changes.ErrUnknown) {
		return nil, exit.Misused(fmt.Errorf("%w: 'skills-mcp changes' lists them", err))
	}
	if err != nil {
		return nil, err
	}
	target := set.Target()
	dir := cmp.Or(target.Project, target.Path)
	rules, err := s.RulesIn(dir)
	if err != nil {
		return nil, errors.Join(err, set.Close())
	}
	rules = rules.With(s.PlacesIn(dir))
	return &Set{set, id, func() changes.Judge { return server.Judge(rules, set) }, s}, nil
}

// Close ends this use of the set, which stays.
func (s *Set) Close() error { return s.set.Close() }
