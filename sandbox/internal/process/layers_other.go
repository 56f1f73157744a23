//go:build !linux

package process

import (
	"errors"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

var errNoShares = errors.New("there are no shares on this system")

func checkLayers(sandbox.Share) error { return nil }

func prepareChanges(sandbox.Share) error { return errNoShares }
