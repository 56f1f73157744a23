//go:build !linux

package docker

import (
	"errors"
	"os"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// passage is for engines with this machine's kernel.
type passage struct{}

func openPassage() (*passage, error) { return nil, errors.ErrUnsupported }

func (*passage) putInto(*engine.Blueprint) {}

func (*passage) receive(time.Duration) (*os.File, error) { return nil, errors.ErrUnsupported }

func (*passage) close() error { return nil }
