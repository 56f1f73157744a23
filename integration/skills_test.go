package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// samples is the root of the skills that the project ships as examples.
const samples = "../testdata/skills/valid"

// sampleRoot returns the samples' absolute path.
func sampleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(samples)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// sampleNames returns the names of the samples.
func sampleNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		if entry.IsDir() {
			all = append(all, entry.Name())
		}
	}
	return all
}

// crowd returns names for more skills than a page of a list holds.
func crowd() []string {
	all := make([]string, 520)
	for i := range all {
		all[i] = fmt.Sprintf("crowd-%03d", i)
	}
	return all
}

// writeSkill writes a skill's SKILL.md with the body given.
func writeSkill(t *testing.T, root, name, body string) {
	t.Helper()
	writeFile(t, filepath.Join(root, name, "SKILL.md"), fmt.Sprintf(
		"---\nname: %s\ndescription: What %s does, and when to use it.\n---\n%s\n", name, name, body))
}

// writeFile writes an executable file and the directories above it.
func writeFile(t *testing.T, file, text string) {
	t.Helper()
	testfiles.WriteMode(t, file, text, 0o755)
}

// contentsOf reads a file of the repository.
func contentsOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
