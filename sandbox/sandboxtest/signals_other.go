//go:build !linux

package sandboxtest

import "testing"

func testSignalsDefault(t *testing.T, _ *fixture) {
	t.Skip("needs /proc to tell which signals a program ignores")
}
