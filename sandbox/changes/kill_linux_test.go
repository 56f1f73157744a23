package changes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// These tell a copy of this program to apply or to undo something, and at which
// moment it is killed.
const (
	stateVariable  = "CHANGES_TEST_STATE"
	idVariable     = "CHANGES_TEST_ID"
	momentVariable = "CHANGES_TEST_MOMENT"
)

func TestMain(m *testing.M) {
	if state := os.Getenv(stateVariable); state != "" {
		if err := applyOrUndo(state, os.Getenv(idVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if lower := os.Getenv(overlayVariable); lower != "" {
		if err := inOverlay(lower, os.Getenv(setVariable), os.Getenv(seedVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func applyOrUndo(state, id string) error {
	store, err := changes.Open(state, changes.Options{})
	if err != nil {
		return err
	}
	if at, err := strconv.Atoi(os.Getenv(momentVariable)); err == nil {
		changes.SetFault(func(string) {
			if at--; at == 0 {
				_ = unix.Kill(os.Getpid(), unix.SIGKILL)
				select {}
			}
		})
	}
	os.Stdout.WriteString("ready\n")
	if id == "use" {
		return useAndBeKilled(store)
	}
	if strings.HasPrefix(id, "ap-") {
		_, err = store.Undo(context.Background(), id)
		return err
	}
	set, err := store.Open(id)
	if err == nil {
		_, err = set.Apply(context.Background(), id, nil, nil)
	}
	return err
}

// useAndBeKilled is a server that is killed while a program has changed a and b.
func useAndBeKilled(store *changes.Store) error {
	names, err := filepath.Glob(filepath.Join(os.Getenv(stateVariable), "sets", "*"))
	if err != nil {
		return err
	}
	set, err := store.Open("cs-" + filepath.Base(names[0]))
	if err != nil {
		return err
	}
	if _, err := set.Use(context.Background()); err != nil {
		return err
	}
	dir := filepath.Join(set.Dir(), sandbox.UpperDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("by a program"), 0o644); err != nil {
			return err
		}
	}
	return unix.Kill(os.Getpid(), unix.SIGKILL)
}

// another starts a copy of this program that applies or undoes something.
func (f *fixture) another(id, moment string) *exec.Cmd {
	f.t.Helper()
	process := exec.Command("/proc/self/exe")
	process.Env = append(os.Environ(), stateVariable+"="+f.state, idVariable+"="+id, momentVariable+"="+moment)
	return process
}

// killed runs a copy of this program, which is killed at a moment, and reports
// whether it came so far.
func (f *fixture) killed(id string, moment int) bool {
	f.t.Helper()
	err := f.another(id, strconv.Itoa(moment)).Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != -1) {
		f.t.Fatalf("killed at moment %d: %v", moment, err)
	}
	return err != nil
}

// half fails if a path of the project is neither as before nor as after; with
// clean, if something is there that is in none of the two.
func (f *fixture) half(when string, clean bool, before, after []string) {
	f.t.Helper()
	for _, line := range tree(f.t, f.project) {
		temporary := strings.Contains(line, ".skills-mcp-") && !clean
		// A directory that is to be read-only is not yet while it is filled.
		if !slices.Contains(before, line) && !slices.Contains(after, line) && !temporary {
			f.t.Errorf("%s: %s", when, line)
		}
	}
	have := strings.Join(tree(f.t, f.project), "\n")
	for _, line := range before {
		if name := strings.Fields(line)[1]; slices.ContainsFunc(after, func(a string) bool { return strings.Fields(a)[1] == name }) &&
			!strings.Contains(have, " "+name+" ") && clean {
			f.t.Errorf("%s: %s is lost", when, name)
		}
	}
}

// work has enough done of each kind for a kill to hit anything.
func (f *fixture) work() {
	f.t.Helper()
	f.run(func(u upper) {
		everything(u)
		u.symlink("README.md", "other")
		u.write("docs/deep/more.md", strings.Repeat("text\n", 50_000))
		u.whiteout("was-a-file")
		u.check(os.Remove(u.path("was-a-file")))
		u.mkdir("was-a-file", 0o755)
		u.opaque("was-a-file")
		u.write("was-a-file/now", "in a directory")
	})
}

func workedOn(t *testing.T) *fixture {
	t.Helper()
	files := project()
	files["was-a-file"] = "a file"
	f := setUp(t, files)
	f.work()
	return f
}

// beforeAndAfter returns what the project is before that work is applied, and
// then.
func beforeAndAfter(t *testing.T) (before, after []string) {
	t.Helper()
	f := workedOn(t)
	before = tree(t, f.project)
	if outcome := f.apply(); len(outcome.Conflicts)+len(outcome.Refused) > 0 {
		t.Fatalf("%q", lines(outcome))
	}
	return before, tree(t, f.project)
}

// recovered opens the store again, and makes sure that all can still be applied,
// and undone.
func (f *fixture) recovered(when string, before, after []string) {
	f.t.Helper()
	f.half(when+", before recovery", false, before, after)
	f.open(changes.Options{})
	f.half(when+", after recovery", true, before, after)
	if outcome := f.apply(); len(outcome.Conflicts)+len(outcome.Refused) > 0 || !outcome.Remaining.Empty() {
		f.t.Errorf("%s: applied again: %q, remaining %q", when, lines(outcome), summary(outcome.Remaining))
	}
	want(f.t, when+", applied again", tree(f.t, f.project), after...)
	f.undone(when, before)
}

// undone undoes all that can be.
func (f *fixture) undone(when string, before []string) {
	f.t.Helper()
	list, err := f.store.Applied()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, applied := range list {
		if outcome, err := f.store.Undo(f.t.Context(), applied.ID); err != nil && !errors.Is(err, changes.ErrUndone) || len(outcome.Conflicts)+len(outcome.Refused) > 0 {
			f.t.Errorf("%s: undone: %q, %v", when, lines(outcome), err)
		}
	}
	want(f.t, when+", undone", tree(f.t, f.project), before...)
}

// moments calls try with one moment in step, until it says that there are no
// more.
func moments(t *testing.T, step int, try func(t *testing.T, moment int) (more bool)) {
	t.Helper()

	last := false
	for from := 1; !last; from += 8 * step {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			for moment := from; moment < from+8*step && !last; moment += step {
				last = !try(t, moment)
			}
		})
		if from > 1000 {
			t.Fatal("it never ends")
		}
	}
}

func TestKilledWhileApplying(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "kills a process at a hundred moments")
	before, after := beforeAndAfter(t)
	moments(t, testenv.Rounds(t, 3, 1), func(t *testing.T, moment int) bool {
		f := workedOn(t)
		more := f.killed(f.held().ID, moment)
		f.recovered(fmt.Sprintf("killed at moment %d", moment), before, after)
		return more
	})
}

func TestKilledWhileUndoing(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "kills a process at a hundred moments")
	before, after := beforeAndAfter(t)
	moments(t, testenv.Rounds(t, 6, 1), func(t *testing.T, moment int) bool {
		f := workedOn(t)
		more := f.killed(f.apply().Undo, moment)
		when := fmt.Sprintf("killed at moment %d", moment)
		f.half(when+", before recovery", false, before, after)
		f.open(changes.Options{})
		f.half(when+", after recovery", true, before, after)
		f.undone(when, before)
		return more
	})
}

// Kills come at any moment, not only at those that were thought of.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "kills a process at random moments")
	before, after := beforeAndAfter(t)
	for range testenv.Rounds(t, 5, 100) {
		f := workedOn(t)
		process := f.another(f.held().ID, "")
		out, err := process.StdoutPipe()
		if err == nil {
			err = process.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		wait := rand.N(60 * time.Millisecond)
		time.Sleep(wait) // at random, not for something
		_ = process.Process.Kill()
		_ = process.Wait() // says that it was killed
		f.recovered(fmt.Sprintf("killed after %v", wait), before, after)
	}
}

// What is left of a killed apply of a project that is gone waits until it is
// back.
func TestRecoveryWaitsForTheProject(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"a": "old"})
	f.run(func(u upper) { u.write("a", "new") })
	if !f.killed(f.held().ID, 9) {
		t.Fatal("it was not killed")
	}
	temporary := func(dir string) int {
		found, err := filepath.Glob(filepath.Join(dir, ".skills-mcp-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	away := f.project + "-away"
	if err := os.Rename(f.project, away); err != nil {
		t.Fatal(err)
	}
	if temporary(away) != 1 {
		t.Fatalf("%q", tree(t, away))
	}
	f.open(changes.Options{})
	testfiles.Fill(t, f.project, map[string]string{"a": "another project's"})
	f.open(changes.Options{})
	if err := errors.Join(os.RemoveAll(f.project), os.Rename(away, f.project)); err != nil {
		t.Fatal(err)
	}
	f.open(changes.Options{})
	if temporary(f.project) != 0 {
		t.Errorf("%q", tree(t, f.project))
	}
}
