package vm

import (
	"bufio"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

var (
	all  = flag.Bool("all", false, "boot all machines and run all tests of the local sandbox in them")
	arch = flag.String("arch", runtime.GOARCH, "the processor of the machines")
)

// bounds are the tests that show what the cases are about.
var bounds = []string{"TestBoundsAreStated", "TestMemoryIsBounded", "TestScopeThatHasEndedIsReplaced"}

// Without systemd, a cgroup is the server's where it is root's, where it was
// delegated to its user, or where the server is alone in it.
func TestWithoutSystemd(t *testing.T) {
	t.Parallel()
	runCases(t, "plain", []string{
		"user-without-delegation", "root-in-the-root", "root-among-others", "root-alone", "root-alone-again",
		"user-alone", "user-in-a-part",
	}, []string{"root-everything", "user-everything"})
}

// With systemd, a cgroup is the server's where systemd has delegated it, or
// delegates one on request.
func TestWithSystemd(t *testing.T) {
	t.Parallel()
	if !*all {
		t.Skip("takes minutes; make test-vm runs it")
	}
	runCases(t, "systemd", []string{
		"root-service", "root-delegated-service", "root-session",
		"user-service-of-the-system", "user-delegated-service", "user-session", "user-session-with-manager",
		"user-service", "user-scope", "user-delegated-scope",
	}, []string{"user-session-everything"})
}

// runCases boots a machine and makes a subtest of each case that it runs. What
// the cases are, the script of that name says; those of the second list run
// every test.
func runCases(t *testing.T, script string, want, everything []string) {
	program.Require(t, "vm", missing(*arch))
	files := map[string]string{"local.test": buildTests(t), "tests": list(t, bounds)}
	if *all {
		files["every-test"] = list(t, testsOf(t, "../../sandbox/local"))
		files["ESCAPES.md"] = "../../sandbox/ESCAPES.md"
		want = append(want, everything...)
	}
	payload := pack(t, files)
	var got []string
	err := boot(t, *arch, payload, "VM_CASES="+script, func(console io.Reader) error {
		lines := bufio.NewScanner(console)
		for name, found := nextCase(t, lines); found; name, found = nextCase(t, lines) {
			got = append(got, name)
			t.Run(name, func(t *testing.T) { readCase(t, lines) })
		}
		return lines.Err()
	})
	if err != nil {
		t.Error(err)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the machine ran the cases %q, want %q", got, want)
	}
}

// nextCase finds the next one that the machine begins.
func nextCase(t *testing.T, lines *bufio.Scanner) (name string, found bool) {
	for lines.Scan() {
		if name, found := strings.CutPrefix(lines.Text(), "vm: case "); found {
			return name, true
		}
		t.Log(lines.Text())
	}
	return "", false
}

// readCase reads up to where the machine says how many tests have failed.
func readCase(t *testing.T, lines *bufio.Scanner) {
	for lines.Scan() {
		if failed, found := strings.CutPrefix(lines.Text(), "vm: failed "); found {
			if failed != "0" {
				t.Errorf("%s tests have failed", failed)
			}
			return
		}
		t.Log(lines.Text())
	}
	t.Error("the machine has stopped")
}

// buildTests builds the tests of the local sandbox for the machine.
func buildTests(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "local.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "../../sandbox/local")
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
