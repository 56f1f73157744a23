// Package exit says with which code the program ends, and whether its user has to
// be told why.
package exit

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

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

// NoArguments is [cobra.NoArgs] that refuses arguments as wrong usage.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Misused(fmt.Errorf("%s takes no argument %q", command.CommandPath(), args[0]))
	}
	return nil
}

func (u UsageError) Unwrap() error { return u.error }

// ErrReported marks an error that was already shown.
var ErrReported = errors.New("already reported")
