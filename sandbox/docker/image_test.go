package docker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// What builds the image and what uses it must agree on its names.
func TestImageIsBuiltAsItIsUsed(t *testing.T) {
	t.Parallel()
	for file, names := range map[string][]string{
		"Dockerfile":  {"LABEL " + protocol.VersionLabel + "=" + protocol.Version + "\n", " " + protocol.Path + "\n"},
		"build-image": {"image=" + docker.DefaultImage + "\n", "=" + protocol.Path + "\n", "=" + protocol.VersionLabel + "=" + protocol.Version + "\n"},
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
