package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// plenty is more memory than any address space: the race detector of a test
// binary takes terabytes of it.
const plenty = 1 << 46

// shareAttacks are attempts to change what is the user's.
func shareAttacks() []contract {
	return []contract{{name: "share-unchanged", test: testShareUnchanged}}
}

// Nothing of the user's changes before consent, whatever a program does: every
// assault changes a project where there is no sandbox, and none does in one.
func testShareUnchanged(t *testing.T, f *fixture) {
	dir := t.TempDir()
	vandal := filepath.Join(dir, vandalName)
	// Another process writes it: what this one has open for writing while it starts
	// a program elsewhere, nobody could execute.
	if out, err := exec.Command("cp", fmt.Sprintf("/proc/%d/exe", os.Getpid()), vandal).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, assault := range assaults {
		if f.shares.Brief {
			break // what each does is shown where they are tried one by one
		}
		t.Run(assault.name, func(t *testing.T) {
			bare := newVictim(t)
			before := stateOf(t, bare.dir)
			command := exec.Command(vandal, assault.name)
			command.Dir, command.Env = bare.dir, []string{"PROJECT=" + bare.dir, "WORKSPACE=" + bare.workspace}
			out, err := command.CombinedOutput()
			if cmp.Equal(before, stateOf(t, bare.dir)) {
				if !assault.rare {
					t.Errorf("it changes nothing without a sandbox: %v: %s", err, out)
				}
				t.Skipf("it changes nothing on this machine: %v: %s", err, out)
			}
			accesses := []sandbox.Access{f.shares.Most}
			if testenv.All(t) {
				accesses = append(accesses, sandbox.AccessRead)
			}
			assaultIn(t, f, dir, assault.name, accesses...)
		})
	}
	t.Run("all", func(t *testing.T) { assaultIn(t, f, dir, "all", f.shares.Most, sandbox.AccessRead) })
}

func newVictim(t *testing.T) *project {
	p := newProject(t, sample())
	if err := os.Symlink("README.md", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	return p
}

// assaultIn has a victim assaulted in a sandbox, with each access.
func assaultIn(t *testing.T, f *fixture, vandal, assault string, accesses ...sandbox.Access) {
	for _, access := range accesses {
		p := newVictim(t)
		beside := stateOf(t, filepath.Dir(p.dir))
		spec := p.spec(access, "")
		spec.SkillDir, spec.Script, spec.Args = vandal, vandalName, []string{assault}
		spec.Limits.MemoryBytes = plenty
		result := p.run(t, f, spec)
		beside.expectSame(t, filepath.Dir(p.dir))
		if !strings.Contains(string(result.Stdout.Data), "made") {
			t.Errorf("the vandal did not run: %s %d: %s", result.Status, result.ExitCode, result.Stderr.Data)
		}
	}
}

func itoa(i int) string { return fmt.Sprint(i) }

// assaultsNamed returns one assault, or all.
func assaultsNamed(name string) []assault {
	if name == "all" {
		return assaults
	}
	return slices.DeleteFunc(slices.Clone(assaults), func(a assault) bool { return a.name != name })
}
