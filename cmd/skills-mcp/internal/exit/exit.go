// Package exit says with which code the program ends, and whether its user has to
// be told why.
package exit

import "errors"

// The codes.
const (
	OK      = 0
	Failure = 1
	Usage   = 2
)

// UsageError marks an error that a correct command line would not give.
type UsageError struct{ error }

// Misused returns an error as one of the command line.
func Misused(err error) error { return UsageError{err} }

func (u UsageError) Unwrap() error { return u.error }

// ErrReported marks an error that was already shown.
var ErrReported = errors.New("already reported")
