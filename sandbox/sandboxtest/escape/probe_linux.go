package escape

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// probeName is the name by which a test binary knows that it is to make an
// attempt, instead of to test.
const probeName = "escape-probe"

// The exit codes of a probe.
const (
	exitOpen    = 0
	exitBlocked = 3
)

func init() {
	if len(os.Args) == 3 && filepath.Base(os.Args[0]) == probeName {
		syscall.Exit(probe(os.Args[1], os.Args[2]))
	}
}

// probe makes one attempt.
func probe(name, victims string) int {
	var v Victims
	if err := json.Unmarshal([]byte(victims), &v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBlocked
	}
	attempts := append(rows(), control(), controlOfGrants())
	i := slices.IndexFunc(attempts, func(a Attempt) bool { return a.Name == name })
	if i < 0 || attempts[i].Try == nil {
		fmt.Fprintln(os.Stderr, "there is no such attempt")
		return exitBlocked
	}
	if err := attempts[i].Try(v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBlocked
	}
	return exitOpen
}

// control is what must succeed in a sandbox too: else the probe does not run
// there, and that attempts fail says nothing.
func control() Attempt {
	return Attempt{Name: "control", Try: func(Victims) error {
		if _, err := os.ReadFile(filepath.Join(os.Getenv("SKILL_DIR"), "file")); err != nil {
			return err
		}
		return os.WriteFile("made", nil, 0o600)
	}}
}
