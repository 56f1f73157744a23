package docker_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest/escape"
)

var update = flag.Bool("update", false, "rewrite the table of ESCAPES.md")

// minimum is how many attempts must have been shown to mean anything.
const minimum = 60

// openInDocker is what is open for reasons that ESCAPES.md tells.
var openInDocker = []string{
	"open-netlink", "open-terminal", "share-lock-of-skill", "share-record-lock-of-skill", "learn-uptime", "learn-size-of-disk",
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	tryToEscape(t, openUntilEnd(t), "docker")
}

func TestEscapesWithCopies(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "the attempts where files are copied")
	tryToEscape(t, openCopying(t), "docker, copies")
}

func TestEscapesPodman(t *testing.T) {
	testenv.Variant(t, "the attempts on another engine")
	backend := openPodman(t, servePodman(t))
	defer backend.Close()
	tryToEscape(t, backend, "podman")
}

// tryToEscape makes all attempts, and holds a column of ESCAPES.md to them.
func tryToEscape(t *testing.T, backend sandbox.Backend, column string) {
	t.Helper()
	outcomes := escape.Try(t, backend)
	shown := 0
	for name, of := range outcomes {
		if of[0] != escape.NotShown {
			shown++
		}
		if of[0] == escape.Open && !slices.Contains(openInDocker, name) {
			t.Errorf("%s gets out of a container", name)
		}
	}
	if shown < minimum {
		t.Errorf("%d attempts were shown, want at least %d", shown, minimum)
	}
	if os.Geteuid() == 0 {
		escape.CompareTable(t, "../ESCAPES.md", *update, outcomes, column)
	}
}
