package docker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

// watched are the cases that look into the workspace while a program runs, or
// hold on to a FIFO there.
var watched = []string{
	"progress-lines", "close", "hog-processes", "survivors-at-timeout",
	"survivors-at-exit-background", "survivors-at-cancel-background",
	"survivors-at-exit-background-quiet", "survivors-at-cancel-background-quiet",
	"survivors-at-exit-grandchild", "survivors-at-cancel-grandchild",
	"survivors-at-exit-session", "survivors-at-cancel-session",
	"survivors-at-exit-daemon", "survivors-at-cancel-daemon",
	"survivors-at-exit-daemon-without-environment", "survivors-at-cancel-daemon-without-environment",
	"survivors-at-exit-chain", "survivors-at-cancel-chain", "grant-redact",
}

// shown are the cases of what is shown, which an engine elsewhere does not see.
var shown = []string{"grant-show", "grant-show-read-only", "grant-show-nothing-else", "grant-show-attributes", "grant-path"}

// copied are the cases to which it matters how files come and go.
var copied = []string{
	"artifacts", "workspace", "quota", "runs", "script", "directories", "stdin", "owners", "descriptors", "hog-memory", "hog-file", "left-behind", "cancel-before", "grant-", "library",
}

// It is not parallel, as TestContract is not: both count what this process has.
func TestContractWithCopies(t *testing.T) {
	var except []sandboxtest.Exclusion
	for _, name := range watched {
		except = append(except, sandboxtest.Exclusion{Case: name, Reason: "the workspace is a copy: TestNothingSurvivesWithCopies"})
	}
	for _, name := range shown {
		except = append(except, sandboxtest.Exclusion{Case: name, Reason: "it is refused: TestShownInTheWay"})
	}
	for _, name := range []string{"owners-keep-their-home", "quota-of-other-owners"} {
		except = append(except, sandboxtest.Exclusion{Case: name, Reason: "HOME and TMPDIR end with the run"})
	}
	cases := copied
	if testenv.All(t) {
		cases = []string{""}
	}
	host := enginetest.ServeTCP(t, nil)
	sandboxtest.RunBrief(t, func(t testing.TB) sandbox.Backend { return openWith(t, docker.Options{Host: host}) }, cases, except...)
}

// endings are ways for a run to end: what its program does last, and what is
// done to it from outside once it is there.
var endings = map[string]struct {
	last    string
	timeout time.Duration
	do      func(cancel func(), backend sandbox.Backend)
	status  sandbox.Status
}{
	"exit":    {"exit 5", time.Minute, nil, sandbox.Exited},
	"timeout": {"sleep 1000", 3 * time.Second, nil, sandbox.TimedOut},
	"cancel":  {"sleep 1000", time.Minute, func(cancel func(), _ sandbox.Backend) { cancel() }, sandbox.Canceled},
	"close":   {"sleep 1000", time.Minute, func(_ func(), backend sandbox.Backend) { backend.Close() }, sandbox.Canceled},
}

// What a run started is dead when it has ended, in whatever way, and what it
// changed has come back.
func TestNothingSurvivesWithCopies(t *testing.T) {
	t.Parallel()
	shared := sharedCopying(t)
	for name, detach := range map[string]string{
		"background": `sh -c ': > ready; exec sleep MARK' &`,
		"session":    `setsid sh -c ': > ready; exec sleep MARK' &`,
		"daemon":     `(setsid sh -c 'trap "" HUP INT TERM; setsid sh -c ": > ready; exec sleep MARK" > /dev/null 2>&1 &' &)`,
		"many":       `for i in $(seq 20); do setsid sh -c ': > ready; exec sleep MARK' & done`,
	} {
		for how, end := range endings {
			t.Run(name+" at "+how, func(t *testing.T) {
				t.Parallel()
				if how != "exit" && name != "daemon" {
					testenv.Variant(t, "each way to go on, at each end")
				}
				backend := shared
				if how == "close" {
					backend = openCopying(t)
				}
				mark := fmt.Sprintf("1000.%09d", rand.N(1_000_000_000))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var acted sync.WaitGroup
				defer acted.Wait()
				spec := sandbox.Spec{
					Shell: strings.ReplaceAll(detach, "MARK", mark) +
						"\nuntil [ -e ready ]; do sleep 0.01; done; echo changed > changed; echo there;" + end.last,
					Workspace: t.TempDir(), Limits: sandbox.Limits{Timeout: end.timeout},
					Progress: func(string) {
						if how != "exit" && len(processes(t, mark)) == 0 {
							t.Error("no process of the run can be seen")
						}
						if end.do != nil {
							acted.Go(func() { end.do(cancel, backend) })
						}
					},
				}
				result, err := backend.Run(ctx, spec)
				if left := processes(t, mark); len(left) > 0 {
					t.Errorf("alive are %q", left)
				}
				if err != nil || result.Status != end.status || result.ChangesLost {
					t.Errorf("%+v, %v", result, err)
				}
				if content, err := os.ReadFile(filepath.Join(spec.Workspace, "changed")); string(content) != "changed\n" {
					t.Errorf("what it changed is %q, %v", content, err)
				}
			})
		}
	}
}

// processes returns the command lines, on the whole machine, that hold a text.
func processes(t *testing.T, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if line, _ := os.ReadFile(file); strings.Contains(string(line), text) {
			found = append(found, string(line))
		}
	}
	return found
}

// Where the container is lost, so is what its program has changed; the result
// says so.
func TestLostContainerIsTold(t *testing.T) {
	t.Parallel()
	backend := openCopying(t)
	spec := sandbox.Spec{
		Shell: "echo changed > changed; echo there; sleep 1000", Workspace: t.TempDir(),
		Progress: func(string) {
			all := containers(t, backend.Session()) // the newest first, which may be one for the next run
			if out, err := exec.Command("docker", "rm", "--force", all[len(all)-1]).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		},
	}
	result, err := backend.Run(t.Context(), spec)
	if err != nil || result.Status != sandbox.Lost || result.ExitCode != -1 || result.Signal != "" || !result.ChangesLost {
		t.Errorf("%+v, %v", result, err)
	}
}

// The workspace is in memory, as all that programs may fill. What comes after
// them must not want for any.
func TestFullMemoryComesBack(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	workspace := t.TempDir()
	result := run(t, backend, sandbox.Spec{
		Shell: `for i in $(seq 500); do echo $i > small$i; done
			head -c 60000000 /dev/zero > /dev/shm/fill; head -c 60000000 /dev/zero > /tmp/fill; head -c 60000000 /dev/urandom > big; echo end`,
		Workspace: workspace, Limits: sandbox.Limits{MemoryBytes: 64 << 20},
	})
	if result.ChangesLost {
		t.Errorf("ended as %s, exit code %d: %s", result.Status, result.ExitCode, result.Stderr.Data)
	}
	if made, _ := filepath.Glob(filepath.Join(workspace, "small*")); len(made) != 500 {
		t.Errorf("%d of 500 files came back", len(made))
	}
}

// A workspace that is too large for a container's memory, or a library, is refused in words.
func TestFilesThatDoNotFit(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	workspace := t.TempDir()
	if err := os.WriteFile(filepath.Join(workspace, "big"), make([]byte, 40<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: workspace, Limits: sandbox.Limits{MemoryBytes: 64 << 20}})
	setup := new(sandbox.SetupError)
	if !errors.As(err, &setup) || setup.Rule != "files-not-stored" || setup.Hint == "" {
		t.Errorf("Run gives %v", err)
	}
	library := t.TempDir()
	if err := os.Rename(filepath.Join(workspace, "big"), filepath.Join(library, "big")); err != nil {
		t.Fatal(err)
	}
	_, err = backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: workspace, Library: library, Limits: sandbox.Limits{MemoryBytes: 64 << 20}})
	if !errors.As(err, &setup) || setup.Rule != "files-not-stored" || !strings.Contains(setup.Hint, "--mount-all") {
		t.Errorf("Run gives %v, %+v", err, setup)
	}
	if err := os.Rename(filepath.Join(library, "big"), filepath.Join(workspace, "big")); err != nil {
		t.Fatal(err)
	}
	if result := run(t, backend, sandbox.Spec{Shell: "wc -c < big", Workspace: workspace}); string(result.Stdout.Data) != "41943040\n" {
		t.Errorf("in more memory it ends with %+v", result)
	}
}

// The skill is root's in the container: nobody can change it or make it so.
func TestSkillIsReadOnlyWithCopies(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	skill := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(skill, "file"), []byte("text"), 0o600), os.Chmod(skill, 0o700)); err != nil {
		t.Fatal(err)
	}
	refused := []string{
		`echo x > "$SKILL_DIR/file"`, `echo x > "$SKILL_DIR/new"`, `rm -f "$SKILL_DIR/file"`, `chmod u+w "$SKILL_DIR/file"`, `chmod 777 "$SKILL_DIR"`,
		`mv "$SKILL_DIR/file" .`, `ln "$SKILL_DIR/file" x && echo x > x`, `touch "$SKILL_DIR/file"`,
	}
	for i, end := range runAll(t, backend, skill, refused) {
		if end.code == 0 || end.code > 128 {
			t.Errorf("%s: %d, %s", refused[i], end.code, end.said)
		}
	}
	if result := run(t, backend, sandbox.Spec{Shell: `cat "$SKILL_DIR/file"`, SkillDir: skill}); string(result.Stdout.Data) != "text" {
		t.Errorf("the skill's file cannot be read: %+v", result)
	}
}
