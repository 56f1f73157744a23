package skillsmcp_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeDependencies: README gives a reason for every module that we
// require ourselves, and for no other.
func TestReadmeDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(readme), "\n## Dependencies\n")
	if !found {
		t.Fatal("README has no section on dependencies")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{}
	for _, match := range regexp.MustCompile("`([a-z0-9.]+\\.[a-z]+/[^`]+)`").FindAllStringSubmatch(table, -1) {
		named[match[1]] = true
	}
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		if !named[match[1]] {
			t.Errorf("README does not say why %s is required", match[1])
		}
		delete(named, match[1])
	}
	for module := range named {
		t.Errorf("README has a reason for %s, which is not required", module)
	}
}
