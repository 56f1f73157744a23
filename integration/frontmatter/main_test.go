package frontmatter

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// patience bounds every wait for a process. It is long because a busy machine
// is no failure.
const patience = 60 * time.Second

// binary is the server under test, an absolute path.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the server, with the race detector where the tests have it, and
// runs the tests against it.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "skills-mcp-frontmatter-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)

	binary = filepath.Join(dir, "skills-mcp")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-o", binary)
	if raceEnabled {
		build.Args = append(build.Args, "-race")
	}
	build.Args = append(build.Args, "../../cmd/skills-mcp")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build.Args, err, out)
		return 1
	}
	return m.Run()
}
