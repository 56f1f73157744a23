package sandbox

import (
	"context"
	"fmt"
)

// None is a [Backend] that runs nothing. It is a sentence that says why, and how
// to get a sandbox, without a path of this machine.
type None string

var _ Backend = None("")

// Run returns an error that wraps [ErrUnavailable].
func (n None) Run(context.Context, Spec) (Result, error) {
	return Result{}, fmt.Errorf("%w: %s", ErrUnavailable, string(n))
}

// Info says that nothing can be run, and why.
func (n None) Info() Info { return Info{Backend: "off", Unavailable: string(n)} }

// Close does nothing.
func (None) Close() error { return nil }
