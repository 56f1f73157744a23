package packages_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/packages"
)

// TestText: what is named is there, or comes with the command that has it made for
// the sandbox in which the programs run.
func TestText(t *testing.T) {
	t.Parallel()
	asked := needs.Needs{Python: []needs.Requirement{{Name: "Pillow", Text: "Pillow", Guess: true}}}
	made := &environments.Environment{Packages: []environments.Package{{Kind: "python", Name: "pillow", Version: "12.0"}}}
	for _, test := range []struct {
		name, backend string
		asked         needs.Needs
		has           *environments.Environment
		want          string
	}{
		{"nothing is asked for", "local", needs.Needs{}, nil, ""},
		{"it is there", "docker", asked, made, "Prepared packages: pillow 12.0."},
		{"it is missing", "local", asked, nil, "Pillow (a guess). Programs cannot install any: the user has them prepared with `skills-mcp prepare thumbs`."},
		{"it is missing in containers of Podman", "podman", asked, nil, "`skills-mcp prepare --sandbox=docker thumbs`."},
		{"it is missing in containers", "docker", asked, nil, "`skills-mcp prepare --sandbox=docker thumbs`."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := packages.Text("thumbs", test.backend, test.asked, test.has)
			if !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %q, which has no %q", got, test.want)
			}
		})
	}
}
