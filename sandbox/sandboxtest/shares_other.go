//go:build !linux

package sandboxtest

func shares() []contract { return nil }
