package docker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// What builds the image and what uses it must agree on its names.
func TestImageIsBuiltAsItIsUsed(t *testing.T) {
	t.Parallel()
	for file, names := range map[string][]string{
		"Dockerfile":  {"LABEL " + handover.VersionLabel + "=" + handover.Version + "\n", " " + handover.Path + "\n"},
		"build-image": {"image=" + docker.DefaultImage + "\n", "=" + handover.Path + "\n", "=" + handover.VersionLabel + "=" + handover.Version + "\n"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.Contains(string(text), name) {
				t.Errorf("%s does not have %q", file, name)
			}
		}
	}
}
