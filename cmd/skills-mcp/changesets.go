package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/skills-mcp/skills-mcp/internal/statedir"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

// openChangeStore opens the change sets of this user.
func openChangeStore(log *slog.Logger) (*changes.Store, error) {
	dir, err := statedir.Path("changes")
	if err != nil {
		return nil, err
	}
	return changes.Open(dir, changes.Options{Logger: log})
}

// openChanges reads the configuration and opens the change sets, for a command.
func (s *settings) openChanges(stderr io.Writer) (*changes.Store, error) {
	s.quiet, s.anywhere = true, true // a change set knows its project
	if err := s.read(nil); err != nil {
		return nil, err
	}
	log, err := newLogger(stderr, s.Log.Level, s.Log.Format)
	if err != nil {
		return nil, err
	}
	return openChangeStore(log)
}

// judgedSet is a change set, and what refuses changes in it.
type judgedSet struct {
	*changes.Set
	judge changes.Judge
}

// openSet opens the change set of an id, under the rules of the configuration
// and of its project.
func (s *settings) openSet(store *changes.Store, id string) (*judgedSet, error) {
	set, err := store.Open(id)
	if errors.Is(err, changes.ErrUnknown) {
		return nil, usageError{fmt.Errorf("%w: 'skills-mcp changes' lists them", err)}
	}
	if err != nil {
		return nil, err
	}
	rules, err := s.rulesIn(set.Target().Path)
	if err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return &judgedSet{set, server.Judge(rules, set)}, nil
}

// pathRules returns what is hidden and protected of the user's files.
func (s *settings) pathRules() (paths.Rules, error) {
	p := s.Project
	return paths.New(paths.Options{Hidden: p.Hidden, Shown: p.Shown, Protected: p.Protected, Writable: p.Write})
}

// rulesIn returns them for a project, whose own file may add to them.
func (s *settings) rulesIn(project string) (paths.Rules, error) {
	_ = s.Narrow(project)
	if err := s.projectFault(); err != nil {
		return paths.Rules{}, err
	}
	return s.pathRules()
}
