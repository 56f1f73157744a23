//go:build !linux

package changes

import (
	"context"
	"time"
)

// Store is for Linux: each of its methods returns [ErrUnsupported].
type Store struct{}

// Set is for Linux, as [Store] is.
type Set struct{}

// Open returns [ErrUnsupported].
func Open(string, Options) (*Store, error) { return nil, ErrUnsupported }

// New returns [ErrUnsupported].
func (s *Store) New(Target) (*Set, error) { return nil, ErrUnsupported }

// Open returns [ErrUnsupported].
func (s *Store) Open(string) (*Set, error) { return nil, ErrUnsupported }

// List returns [ErrUnsupported].
func (s *Store) List(context.Context) ([]Info, error) { return nil, ErrUnsupported }

// Applied returns [ErrUnsupported].
func (s *Store) Applied() ([]Applied, error) { return nil, ErrUnsupported }

// Undo returns [ErrUnsupported].
func (s *Store) Undo(context.Context, string) (Outcome, error) { return Outcome{}, ErrUnsupported }

// Dir returns no directory.
func (x *Set) Dir() string { return "" }

// WaitAtMost returns the set.
func (x *Set) WaitAtMost(time.Duration) *Set { return x }

// Target returns nothing.
func (x *Set) Target() Target { return Target{} }

// Close does nothing.
func (x *Set) Close() error { return nil }

// Use returns [ErrUnsupported].
func (x *Set) Use(context.Context) (release func() error, err error) { return nil, ErrUnsupported }

// Held returns [ErrUnsupported].
func (x *Set) Held(context.Context, Judge) (Held, error) { return Held{}, ErrUnsupported }

// Diff returns [ErrUnsupported].
func (x *Set) Diff(context.Context, DiffOptions) (Diff, error) { return Diff{}, ErrUnsupported }

// Apply returns [ErrUnsupported].
func (x *Set) Apply(context.Context, string, []string, Judge) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}

// Discard returns [ErrUnsupported].
func (x *Set) Discard(context.Context, string, []string, Judge) (Held, error) {
	return Held{}, ErrUnsupported
}
