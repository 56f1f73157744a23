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
	tryToEscape(t, shared(t), "docker")
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

// Nothing gets at what a project hides or at what in it is the user's, in whatever
// way it is shown.
func TestEscapesFromProject(t *testing.T) {
	t.Parallel()
	tryProject(t, shared(t), "docker")
}

func TestEscapesFromProjectWithCopies(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "the attempts on a project that is sent")
	tryProject(t, openCopying(t), "docker, copies")
}

func TestEscapesFromProjectByCopies(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "the attempts on a project that is bound as a copy")
	backend := openUntilEnd(t)
	backend.DoWithoutOverlays()
	tryProject(t, backend, "")
}

func TestEscapesFromProjectPodman(t *testing.T) {
	testenv.Variant(t, "the attempts on a project in another engine")
	backend := openPodman(t, servePodman(t))
	defer backend.Close()
	tryProject(t, backend, "podman")
}

// Nothing leads around the proxy of a program or changes what it is shown, or
// reaches anybody there.
func TestEscapesWithGrants(t *testing.T) {
	t.Parallel()
	tryGrants(t, shared(t), "docker")
}

// Where engines mount no overlays, what is shown is shown as it is.
func TestEscapesWithGrantsPodman(t *testing.T) {
	testenv.Variant(t, "the attempts with grants in another engine")
	backend := openPodman(t, servePodman(t))
	defer backend.Close()
	tryGrants(t, backend, "podman", "share-lock-of-shown", "write-to-pipe-in-shown", "connect-to-socket-in-shown", "share-lock-of-library")
}

// tryGrants makes all attempts with grants, of which some may be open, and holds a
// column of ESCAPES.md to them.
func tryGrants(t *testing.T, backend sandbox.Backend, column string, open ...string) {
	t.Helper()
	outcomes := escape.TryGrants(t, backend)
	for name, of := range outcomes {
		if (of[0] == escape.Open) != slices.Contains(open, name) && of[0] != escape.NotShown {
			t.Errorf("%s is %s", name, of[0])
		}
	}
	if os.Geteuid() == 0 {
		escape.CompareTable(t, "../ESCAPES.md", *update, outcomes, column)
	}
}

// tryProject makes all attempts on a project, and holds a column of ESCAPES.md to
// them, if it has one.
func tryProject(t *testing.T, backend sandbox.Backend, column string) {
	t.Helper()
	outcomes := escape.TryProject(t, backend)
	for name, of := range outcomes {
		if of[0] != escape.Blocked {
			t.Errorf("%s is %s", name, of[0])
		}
	}
	if os.Geteuid() == 0 && column != "" {
		escape.CompareTable(t, "../ESCAPES.md", *update, outcomes, column)
	}
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
