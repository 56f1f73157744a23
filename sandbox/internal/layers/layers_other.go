//go:build !linux

package layers

import (
	"context"
	"errors"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Manifest is what a copy held when it was made.
type Manifest struct{}

// Omitted returns how much of the share was left out of the copy.
func (m *Manifest) Omitted() int { return 0 }

// Merge is for Linux: the error is [errors.ErrUnsupported].
func Merge(context.Context, sandbox.Share, string, Options) (*Manifest, error) {
	return nil, errors.ErrUnsupported
}

// Store is for Linux: the error is [errors.ErrUnsupported].
func Store(sandbox.Share, string, *Manifest) (Lost, error) { return Lost{}, errors.ErrUnsupported }
