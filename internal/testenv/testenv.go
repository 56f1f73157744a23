// Package testenv says how much a run of the tests is to show, and what has to
// be installed for it. It is for tests, those below integration included, and
// imports nothing of ours.
//
// There are three levels:
//
//	go test -short             the core of every behaviour, nothing slow
//	go test                    every behaviour once
//	SKILLS_MCP_TEST=all go test  every variant of it, every round
//
// What a test drives besides Go may be missing: the test is skipped then, or
// fails where SKILLS_MCP_REQUIRE, a list of names with commas between them,
// names it. The names are bash, browser, docker, index (of packages, which can be
// reached), keyring, node, office, podman, python and vm.
package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	levelVariable    = "SKILLS_MCP_TEST"
	requiredVariable = "SKILLS_MCP_REQUIRE"
)

// Need skips the test where something that it needs is missing, or fails it
// where SKILLS_MCP_REQUIRE has its name. A nil error means that nothing is
// missing.
func Need(t testing.TB, name string, missing error) {
	t.Helper()
	switch {
	case missing == nil:
	case slices.Contains(Required(), name):
		t.Fatalf("%s names %s, but: %v (make test-setup installs it)", requiredVariable, name, missing)
	default:
		t.Skipf("needs %s: %v (make test-setup installs it)", name, missing)
	}
}

// Required returns the names in SKILLS_MCP_REQUIRE.
func Required() []string {
	return strings.FieldsFunc(os.Getenv(requiredVariable), func(r rune) bool { return r == ',' || r == ' ' })
}

// Slow skips the test with -short: it takes seconds, and why says what it
// spends them on.
func Slow(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("left out by -short: %s", why)
	}
}

// Variant skips the test unless all variants are asked for: it shows again, in
// other circumstances or more often, what another test shows. Why says which.
func Variant(t testing.TB, why string) {
	t.Helper()
	if !All(t) {
		t.Skipf("left to %s=all: %s", levelVariable, why)
	}
}

// Rounds returns how often a test repeats what may fail now and then: all
// times where all variants are asked for, else some.
func Rounds(t testing.TB, some, all int) int {
	t.Helper()
	if All(t) {
		return all
	}
	return some
}

// Environ returns what says all this to a test that this process starts, as
// KEY=value lines.
func Environ() []string {
	return []string{levelVariable + "=" + os.Getenv(levelVariable), requiredVariable + "=" + os.Getenv(requiredVariable)}
}

// All reports whether all variants are asked for.
func All(t testing.TB) bool {
	t.Helper()
	switch level := os.Getenv(levelVariable); level {
	case "":
		return false
	case "all":
		return !testing.Short()
	default:
		t.Fatalf("%s is %q: there is only all", levelVariable, level)
		return false
	}
}
