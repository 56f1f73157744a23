package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// samples is the root of the skills that the project ships as examples.
const samples = "../../testdata/skills/valid"

// sampleRoot returns the samples' absolute path.
func sampleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(samples)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// sample returns a file of the samples.
func sample(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samples, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
