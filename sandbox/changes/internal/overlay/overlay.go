// Package overlay reads what the upper directory of an overlay holds above a
// directory of the user, and takes out of it what is not held any more. Programs
// that are not trusted wrote it, and may be writing it. It is for Linux.
package overlay

import "errors"

// ErrTooLarge means that there is more than can be looked at.
var ErrTooLarge = errors.New("too much at once: apply or discard fewer paths")
