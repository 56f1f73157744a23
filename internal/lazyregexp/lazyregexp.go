// Package lazyregexp compiles regular expressions when they are first used, so
// that no process pays for one that it does not use.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns what returns a regular expression, which has to be valid.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
