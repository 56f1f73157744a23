package vm

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

var arch = flag.String("arch", runtime.GOARCH, "the processor of the machines")

// bounds are the tests that show what the cases are about.
var bounds = []string{"TestBoundsAreStated", "TestMemoryIsBounded", "TestScopeThatHasEndedIsReplaced"}

// Without systemd, a cgroup is the server's where it is root's, where it was
// delegated to its user, or where the server is alone in it.
func TestWithoutSystemd(t *testing.T) {
	if !slices.Contains(testenv.Required(), "vm") {
		testenv.Variant(t, "the local sandbox in a machine without systemd")
	}
	t.Parallel()
	runLocal(t, "plain", []string{
		"user-without-delegation", "root-in-the-root", "root-among-others", "root-alone", "root-alone-again",
		"user-alone", "user-in-a-part",
	}, []string{"root-everything", "user-everything"})
}

// With systemd, a cgroup is the server's where systemd has delegated it, or
// delegates one on request.
func TestWithSystemd(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "the local sandbox in a machine with systemd")
	runLocal(t, "systemd", []string{
		"root-service", "root-delegated-service", "root-session",
		"user-service-of-the-system", "user-delegated-service", "user-session", "user-session-with-manager",
		"user-service", "user-scope", "user-delegated-scope",
	}, []string{"user-session-everything"})
}

// runLocal runs the tests of the local sandbox in a machine. The cases of the
// second list run every test.
func runLocal(t *testing.T, script string, want, everything []string) {
	m := machine{arch: *arch, root: "root", script: script}
	testenv.Need(t, "vm", m.missing())
	files := map[string]string{"package.test": buildTests(t, "../../sandbox/local"), "tests": list(t, bounds)}
	if testenv.All(t) {
		files["every-test"] = list(t, testsOf(t, "../../sandbox/local"))
		files["ESCAPES.md"] = "../../sandbox/ESCAPES.md"
		want = append(want, everything...)
	}
	m.payload = pack(t, files)
	runCases(t, m, want)
}

// buildTests builds the tests of a package for the machine.
func buildTests(t *testing.T, dir string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "package.test")
	build := exec.Command("go", "test", "-c", "-o", binary, dir)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+*arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return binary
}

// list writes a file of lines.
func list(t *testing.T, lines []string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// testsOf lists the tests of a package.
func testsOf(t *testing.T, dir string) (tests []string) {
	t.Helper()
	found, err := exec.Command("go", "test", "-list", "^Test", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(found)) {
		if strings.HasPrefix(line, "Test") {
			tests = append(tests, strings.TrimSpace(line))
		}
	}
	return tests
}
