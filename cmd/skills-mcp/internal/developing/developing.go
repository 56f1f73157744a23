// Package developing follows skills while their author writes them: at each save
// it holds them to the specification, shows what a host would see of them and what
// of that is another now, and runs their examples.
package developing

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// Options are what is followed, and how it is shown.
type Options struct {
	// Place is the absolute path of a skill's directory, a directory of skills or an
	// archive. From is the directory that paths are shown from.
	Place, From string
	// Catalog has the skills in Place. Nobody else watches it.
	Catalog *catalog.Catalog
	// Activation returns what a model reads when it activates a skill.
	Activation func(ctx context.Context, skill *catalog.Skill) (string, error)
	// Examples runs the examples of a skill. If nil, none are run.
	Examples *examples.Runner
	// Out is where all is shown: on a terminal as a picture that is drawn again with
	// each save, elsewhere as lines of what is another.
	Out io.Writer
	// JSON has Out be a JSON object a line.
	JSON bool
}

// view shows what a session finds out.
type view interface {
	// round shows what a look at the skills found, before their examples are run.
	round(r Round) error
	// running shows that an example is being run, and example what came of it.
	running(e Running) error
	example(e Example) error
	// faults shows what is wrong with the files of examples of one skill.
	faults(all []examples.Fault) error
	// end shows that all is done, or that it is begun again because of a save.
	end(e End) error
}

// Follow shows the skills, and again whenever they change, until ctx ends. Nothing
// that it started runs then. The error is that of Out.
func Follow(ctx context.Context, options Options) error {
	s := &session{
		Options: options, changes: newChanges(), touched: map[string]bool{},
		seen: map[string]*Picture{}, outcomes: map[string]*outcomes{},
	}
	switch {
	case options.JSON:
		s.view = &events{out: options.Out}
	default:
		s.view = newText(options)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Catalog.Watch(ctx, s.changes.add) })
	group.Go(func() error {
		if err := s.follow(ctx); err != nil {
			return err
		}
		return errEnded
	})
	if err := group.Wait(); !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// errEnded ends the watch with the session.
var errEnded = errors.New("the session has ended")

// shorten puts the text of an author on one line.
func shorten(text string) string { return terminal.Shorten(text, 200) }
