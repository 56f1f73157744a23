//go:build !linux

package layers

import (
	"context"
	"errors"
	"os"

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

// Opened is a file or directory of a share as programs see it.
type Opened struct {
	Path string
	File *os.File
}

// Open is for Linux: the error is [errors.ErrUnsupported].
func Open(sandbox.Share, string, func(string) error) (*Opened, error) {
	return nil, errors.ErrUnsupported
}

// List is for Linux.
func (o *Opened) List(int, int) (entries []Entry, more bool, err error) {
	return nil, false, errors.ErrUnsupported
}

// Close releases what was opened.
func (o *Opened) Close() {}

// Put is for Linux: the error is [errors.ErrUnsupported].
func Put(sandbox.Share, string, Edit) (created bool, err error) { return false, errors.ErrUnsupported }
