//go:build !unix

package process

import "context"

// lockDir locks nothing: no backend has shares here.
func lockDir(context.Context, string, func() error) (release func(), err error) {
	return func() {}, nil
}
