//go:build !linux

package project

import "context"

// View shows a directory without what is hidden in it; not on this system.
type View struct{}

// NewView returns [ErrViewUnsupported].
func NewView(ViewOptions) (*View, error) { return nil, ErrViewUnsupported }

// Acquire returns [ErrViewUnsupported].
func (v *View) Acquire(context.Context) (*Lease, error) { return nil, ErrViewUnsupported }

// Close does nothing.
func (v *View) Close() error { return nil }
