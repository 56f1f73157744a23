package conformance

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write RESULTS.md anew")

// patience bounds every wait for something that should happen. It is long
// because a busy machine is no failure.
const patience = 60 * time.Second

// Roots that the tests serve: good skills, and skills with a fault each.
const (
	samples = "../../testdata/skills/valid"
	faulty  = "../../testdata/skills/invalid"
)

// binary is the server under test, an absolute path; scratch a directory that
// is removed when all tests are over.
var binary, scratch string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the server, with the race detector where the tests have it, and
// runs the tests against it.
func run(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "skills-mcp-conformance-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)

	binary = filepath.Join(scratch, "skills-mcp")
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

// lookAtSources looks at every source file of the server. What a test looks
// at decides whether go test may repeat its last result; what the build above
// reads does not.
func lookAtSources(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"../../*/*.go", "../../*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no sources at %s: %v", pattern, err)
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}
