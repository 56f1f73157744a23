package docker

import (
	"io"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// Remote is what makes engines usable that share no directories with the
// server. Package remote has one.
type Remote interface {
	// Route returns how an engine is reached that does not listen at a socket
	// or a named pipe of this machine. Errors are those of package engine.
	Route(at engine.Endpoint) (engine.Route, error)
	// OpenFiles opens the files of one run. The first layer of a share is the
	// directory of which the files are copied, and to which they come back.
	// Errors are of type [sandbox.SetupError].
	OpenFiles(spec sandbox.Spec) (Files, error)
}

// Files are those of one run, copied to its container and back.
type Files interface {
	// Send writes those of the skill, of the workspace and of what is shared, as
	// package protocol has them.
	Send(w io.Writer) error
	// Write takes what comes back, and does not fail.
	io.Writer
	// Close returns when what came back is stored, or was found wanting. It
	// returns how much cannot be in the workspace, and an error where something
	// is missing.
	Close() (skipped int, err error)
}
