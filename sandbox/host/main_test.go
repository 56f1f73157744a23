package host_test

import (
	"os"
	"testing"
)

// TestMain takes the user's home from the tests: nothing isolates programs here, and
// some of the contract remove theirs. A fault by which they got the user's would
// cost all that is there.
func TestMain(m *testing.M) {
	if err := os.Setenv("HOME", "/nonexistent"); err != nil {
		panic(err)
	}
	m.Run()
}
