//go:build !linux

package sandboxtest

// egresses are none: no backend has them here.
func egresses() []contract { return nil }
