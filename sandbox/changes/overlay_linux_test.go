package changes_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// These tell a copy of this program, in name spaces of its own, to mount an
// overlay and to work in it at random.
const (
	overlayVariable = "CHANGES_TEST_OVERLAY" // the user's directory
	setVariable     = "CHANGES_TEST_SET"     // sandbox.Share.Changes
	seedVariable    = "CHANGES_TEST_SEED"
)

// inOverlay works at random in an overlay, and writes what is in it then.
func inOverlay(lower, dir, seed string) error {
	upper, work, merged := filepath.Join(dir, sandbox.UpperDir), filepath.Join(dir, sandbox.WorkDir), filepath.Join(dir, "merged")
	for _, made := range []string{upper, work, merged} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", lower, upper, work)
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return err
	}
	number, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(merged)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(number, 0))
	for range 60 {
		if number != noWork {
			workAtRandom(r, root)
		}
	}
	root.Close()
	for _, line := range tree(new(failer), merged) {
		fmt.Println(line)
	}
	return errors.Join(unix.Unmount(merged, 0), os.Remove(merged))
}

// failer has a process without a test fail.
type failer struct{ testing.TB }

func (failer) Helper()           {}
func (failer) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// randomPath has few names, so that work meets other work.
func randomPath(r *rand.Rand) string {
	names := make([]string, 1+r.IntN(3))
	for i := range names {
		names[i] = string("abcd"[r.IntN(4)])
	}
	return strings.Join(names, "/")
}

// workAtRandom does one thing, or fails to, as programs do.
func workAtRandom(r *rand.Rand, root *os.Root) {
	p, q := randomPath(r), randomPath(r)
	text := []byte(fmt.Sprint(r.IntN(3)))
	switch r.IntN(12) {
	case 0, 1, 2:
		_ = root.WriteFile(p, text, 0o644)
	case 3:
		_ = root.WriteFile(p, text, 0o644)
		mode := []fs.FileMode{0o600, 0o755, 0o644}[r.IntN(3)]
		if info, err := root.Lstat(p); err == nil && info.IsDir() {
			mode |= 0o700 // what nobody may list is refused
		}
		_ = root.Chmod(p, mode)
	case 4:
		_ = root.Remove(p)
	case 5:
		_ = root.RemoveAll(p)
	case 6, 7:
		_ = root.MkdirAll(p, 0o755)
	case 8:
		_ = root.Rename(p, q)
	case 9:
		_ = root.Symlink("x", p)
	case 10:
		_ = root.RemoveAll(p)
		_ = root.Mkdir(p, 0o755)
		_ = root.WriteFile(p+"/e", text, 0o644)
	case 11:
		_ = root.Link(p, q)
	}
}

// fillAtRandom makes a project.
func fillAtRandom(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 25 {
		p := randomPath(r)
		_ = root.MkdirAll(filepath.Dir(p), 0o755)
		_ = root.WriteFile(p, []byte(fmt.Sprint(r.IntN(3))), 0o644)
	}
}

// overlaid has a copy of this program work in an overlay of the kernel's, and
// returns what it saw at the end.
func (f *fixture) overlaid(seed uint64) []string {
	f.t.Helper()
	process := exec.Command("/proc/self/exe")
	process.Env = append(os.Environ(), overlayVariable+"="+f.project, setVariable+"="+f.set.Dir(), seedVariable+"="+fmt.Sprint(seed))
	process.Stderr = os.Stderr
	process.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := process.Output()
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// needOverlay skips where an ordinary user cannot mount overlays.
func needOverlay(t *testing.T) {
	t.Helper()
	f := setUp(t, nil)
	process := exec.Command("/proc/self/exe")
	process.Env = append(os.Environ(), overlayVariable+"="+f.project, setVariable+"="+f.set.Dir(), seedVariable+"=0")
	process.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if err := process.Run(); err != nil {
		t.Skipf("there are no overlays in name spaces of users here: %v", err)
	}
}

// Whatever programs do in an overlay of the kernel's, the project is what they
// saw once all is applied, at once or in parts, and what it was once that is
// undone.
func TestAppliedIsWhatProgramsSaw(t *testing.T) {
	t.Parallel()
	needOverlay(t)
	for seed := range uint64(testenv.Rounds(t, 25, 500)) {
		f := setUp(t, nil)
		r := rand.New(rand.NewPCG(seed, 1))
		fillAtRandom(t, r, f.project)
		before := tree(t, f.project)
		var saw []string
		for round := range uint64(1 + r.IntN(2)) {
			release, err := f.set.Use(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			saw = f.overlaid(seed*10 + round)
			if err := release(); err != nil {
				t.Fatal(err)
			}
		}
		want(t, "before consent", tree(t, f.project), before...)
		held := f.held()
		var undo []string
		if len(held.Files) > 0 && r.IntN(2) == 0 {
			part := held.Files[r.IntN(len(held.Files))].Path
			undo = append(undo, f.applied(seed, part))
			// Programs see the same, whatever of it is theirs.
			want(t, fmt.Sprintf("seed %d: seen after a part", seed), f.overlaidStill(), saw...)
		}
		undo = append(undo, f.applied(seed))
		want(t, fmt.Sprintf("seed %d: applied", seed), tree(t, f.project), saw...)
		want(t, fmt.Sprintf("seed %d: left in the set", seed), tree(t, f.upper().dir))
		for at := len(undo) - 1; at >= 0; at-- {
			if undo[at] == "" {
				continue
			}
			if outcome, err := f.store.Undo(t.Context(), undo[at]); err != nil || len(outcome.Conflicts)+len(outcome.Refused) > 0 {
				t.Errorf("seed %d: %q, %v", seed, lines(outcome), err)
			}
		}
		want(t, fmt.Sprintf("seed %d: undone", seed), tree(t, f.project), before...)
		if t.Failed() {
			return
		}
	}
}

// applied applies paths, which must succeed, but for directories of which a part
// stays.
func (f *fixture) applied(seed uint64, paths ...string) (undo string) {
	f.t.Helper()
	outcome := f.apply(paths...)
	if len(outcome.Refused)+len(outcome.Conflicts) > 0 || len(paths) == 0 && !outcome.Remaining.Empty() {
		f.t.Errorf("seed %d: applied %q: %q, remaining %q", seed, paths, lines(outcome), summary(outcome.Remaining))
	}
	return outcome.Undo
}

// overlaidStill returns what programs see now.
func (f *fixture) overlaidStill() []string {
	f.t.Helper()
	release, err := f.set.Use(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			f.t.Fatal(err)
		}
	}()
	return f.overlaid(noWork)
}

// noWork is the seed that does nothing.
const noWork = ^uint64(0)

// What is discarded is seen no more, and nothing else changes.
func TestDiscardedIsSeenNoMore(t *testing.T) {
	t.Parallel()
	needOverlay(t)
	for seed := range uint64(testenv.Rounds(t, 10, 300)) {
		f := setUp(t, nil)
		r := rand.New(rand.NewPCG(seed, 2))
		fillAtRandom(t, r, f.project)
		before := tree(t, f.project)
		f.run(func(upper) { f.overlaid(seed) })
		for {
			held := f.held()
			if held.Empty() {
				break
			}
			part := held.Files[r.IntN(len(held.Files))].Path
			rest, err := f.set.Discard(t.Context(), held.ID, []string{part}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(rest.Files) >= len(held.Files) {
				if rest, err = f.set.Discard(t.Context(), rest.ID, nil, nil); err != nil || !rest.Empty() {
					t.Fatalf("seed %d: %v, %q", seed, err, summary(rest))
				}
				break
			}
			for _, c := range rest.Files {
				if c.Path == part || strings.HasPrefix(c.Path, part+"/") {
					t.Errorf("seed %d: %s stays after %s was discarded", seed, c.Path, part)
				}
			}
		}
		want(t, fmt.Sprintf("seed %d: seen", seed), f.overlaidStill(), before...)
		want(t, fmt.Sprintf("seed %d: project", seed), tree(t, f.project), before...)
		if t.Failed() {
			return
		}
	}
}
