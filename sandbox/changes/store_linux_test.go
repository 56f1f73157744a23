package changes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// What others may read or write is no place for what the user has.
func TestStateDirectory(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"file": "", "loose/": "", "real/": ""})
	if err := errors.Join(os.Symlink("real", filepath.Join(dir, "link")), os.Chmod(filepath.Join(dir, "loose"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"new/and/deep": nil, "loose": nil, "file": changes.ErrState, "link": changes.ErrState, "file/x": changes.ErrState} {
		path := filepath.Join(dir, name)
		if _, err := changes.Open(path, changes.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		} else if info, statErr := os.Stat(path); err == nil && (statErr != nil || info.Mode().Perm() != 0o700) {
			t.Errorf("%s: %v, %v", name, info, statErr)
		}
	}
	behind := filepath.Join(dir, "home")
	if err := os.Symlink(dir, behind); err != nil {
		t.Fatal(err)
	}
	if store, err := changes.Open(filepath.Join(behind, "new"), changes.Options{}); err != nil {
		t.Errorf("behind a link: %v", err)
	} else if set, err := store.New(changes.Target{Path: dir}); err != nil || !strings.HasPrefix(set.Dir(), filepath.Join(dir, "new")) {
		t.Errorf("behind a link: %v", err)
	} else {
		set.Close()
	}
	if _, err := changes.Open("relative", changes.Options{}); !errors.Is(err, changes.ErrState) {
		t.Errorf("relative: %v", err)
	}
	if os.Geteuid() == 0 {
		foreign := filepath.Join(dir, "real")
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := changes.Open(foreign, changes.Options{}); !errors.Is(err, changes.ErrState) {
			t.Errorf("another user's: %v", err)
		}
	}
}

func TestSetsExpire(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) { u.write("a", "held") })
	id := f.held().ID
	empty, err := f.store.New(changes.Target{Path: f.project})
	if err != nil {
		t.Fatal(err)
	}
	emptyID := "cs-" + filepath.Base(filepath.Dir(empty.Dir()))
	empty.Close()
	in := func(d time.Duration) { f.open(changes.Options{Now: func() time.Time { return time.Now().Add(d) }}) }

	in(2 * time.Hour)
	if _, err := f.store.Open(emptyID); !errors.Is(err, changes.ErrExpired) {
		t.Errorf("an empty one after two hours: %v", err)
	}
	in(8 * 24 * time.Hour)
	if again, err := f.store.Open(id); err != nil {
		t.Errorf("one that is open: %v", err)
	} else {
		again.Close()
	}
	f.set.Close()
	in(6 * 24 * time.Hour)
	again, err := f.store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	f.set = again
	if held := f.held(); held.ID != id {
		t.Errorf("%s and %s", held.ID, id)
	}
	again.Close()
	in(8 * 24 * time.Hour)
	if _, err := f.store.Open(id); !errors.Is(err, changes.ErrExpired) {
		t.Errorf("after a week: %v", err)
	}
	if list, err := f.store.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if left, err := os.ReadDir(filepath.Join(f.state, "sets")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	in(90 * 24 * time.Hour)
	if _, err := f.store.Open(id); !errors.Is(err, changes.ErrUnknown) {
		t.Errorf("after three months: %v", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	if list, err := f.store.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	f.run(everything)
	list, err := f.store.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	info := list[0]
	counts := fmt.Sprint(info.Changes)
	if info.ID != f.held().ID || info.Target.Label != "project" || info.Running || info.Problem != "" || counts != "map[added:6 deleted:6 mode:2 modified:1]" {
		t.Errorf("%+v", info)
	}
	release, err := f.set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if list, err := f.store.List(t.Context()); err != nil || !list[0].Running {
		t.Errorf("%+v, %v", list, err)
	}
	if err := errors.Join(release(), os.Rename(f.project, f.project+"-moved")); err != nil {
		t.Fatal(err)
	}
	if list, err := f.store.List(t.Context()); err != nil || list[0].Problem != changes.ErrTargetGone.Error() {
		t.Errorf("%+v, %v", list, err)
	}
	if canceled, err := f.store.List(now(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", canceled, err)
	}
}

// Older applies are forgotten when there are too many, or when they take too
// much space.
func TestAppliesAreForgotten(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"a": strings.Repeat("x", 1000)})
	f.open(changes.Options{KeepApplied: 3, KeepBytes: 2500})
	set, err := f.store.New(changes.Target{Path: f.project})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f.set = set
	for i := range 3 {
		f.run(func(u upper) { u.write("a", strings.Repeat(fmt.Sprint(i), 1000)) })
		f.apply()
	}
	list, err := f.store.Applied()
	if err != nil || len(list) != 2 { // the third would have been 3,000 bytes
		t.Errorf("%+v, %v", list, err)
	}
	for i := range 5 {
		f.run(func(u upper) { u.write("new", fmt.Sprint(i)) })
		f.apply()
	}
	if list, err = f.store.Applied(); err != nil || len(list) != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	testfiles.Write(t, filepath.Join(f.project, "b"), strings.Repeat("x", 3000))
	f.run(func(u upper) { u.whiteout("b"); u.write("c", "") })
	if _, err := f.set.Apply(t.Context(), f.held().ID, nil, nil); !errors.Is(err, changes.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	want(t, "fewer paths", lines(f.apply("c")), "added c")
}

// While programs use a set, nothing is applied, and the other way round.
func TestRunsKeepAppliesOut(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) { u.write("a", "new") })
	id := f.held().ID
	release, err := f.set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	releaseOther, err := other.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Apply(now(t), id, nil, nil); !errors.Is(err, changes.ErrBusy) {
		t.Errorf("apply: %v", err)
	}
	if _, err := other.Discard(now(t), id, nil, nil); !errors.Is(err, changes.ErrBusy) {
		t.Errorf("discard: %v", err)
	}
	want(t, "held meanwhile", summary(f.held()), "added -rw-r--r-- a")
	waiting := f.another(id, "") // until the runs end
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	defer waiting.Wait()
	if err := errors.Join(release(), release()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Apply(now(t), id, nil, nil); !errors.Is(err, changes.ErrBusy) {
		t.Errorf("apply while one run goes on: %v", err)
	}
	if err := releaseOther(); err != nil {
		t.Fatal(err)
	}
	var applied *changes.AppliedError
	for !errors.As(err, &applied) { // by the other process, or by this one
		_, err = other.Apply(t.Context(), id, nil, nil)
	}
	if list, err := f.store.Applied(); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What a user changes while the first of two runs goes on is a conflict even if
// only the second one is seen to end.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"a": "old"})
	first, err := f.set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.upper().write("a", "derived from the old one")
	testfiles.Write(t, filepath.Join(f.project, "a"), "by the user")
	second, err := f.set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second(), first()); err != nil {
		t.Fatal(err)
	}
	want(t, "held", summary(f.held()), "modified -rw-r--r-- a: it was changed while programs ran")
}

// A server that is killed during a run leaves a set that others settle.
func TestServerIsKilledDuringARun(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"a": "old", "b": "old"})
	if out, err := f.another("use", "").CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	testfiles.Write(t, filepath.Join(f.project, "b"), "by the user, after the run")
	want(t, "held", summary(f.held()), "modified -rw-r--r-- a", "modified -rw-r--r-- b: it was changed while programs ran")
	f.run(func(upper) {})
	want(t, "held after a run", summary(f.held()), "modified -rw-r--r-- a", "modified -rw-r--r-- b: it was changed while programs ran")
}

// What is remembered of a set may be cut off, or be another program's: then it is
// said so.
func TestRecordCannotBeRead(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) { u.write("a", "held") })
	id := f.held().ID
	record := filepath.Join(filepath.Dir(f.set.Dir()), "record.json")
	good, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"{", "[]", `{"items":[null]}`, `{"items":[{"path":""}]}`, `{"items":[{"path":"../x","now":{}}]}`, string(good[:len(good)/2])} {
		testfiles.Write(t, record, bad)
		if _, err := f.set.Held(t.Context(), nil); !errors.Is(err, changes.ErrState) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := f.set.Apply(t.Context(), id, nil, nil); !errors.Is(err, changes.ErrState) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	testfiles.Write(t, record, string(good))
	want(t, "the good one", lines(f.apply()), "added a")

	// Where the machine stopped, it can be empty: then it is not known what
	// programs saw.
	f.run(func(u upper) { u.write("README.md", "new"); u.write("b", "held") })
	testfiles.Write(t, record, "")
	want(t, "an empty one", lines(f.apply()), "added b", "conflict README.md: it was changed while programs ran")
}

// Many applies of one set at once, by goroutines and processes: each change is
// applied once.
func TestAppliesAtOnce(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(everything)
	id := f.held().ID
	var all sync.WaitGroup
	for at := range 6 {
		all.Go(func() {
			if at%2 == 0 {
				_ = f.another(id, "").Run() // one of them applies it
				return
			}
			set, err := f.store.Open(id)
			if err != nil {
				t.Error(err)
				return
			}
			defer set.Close()
			if _, err := set.Apply(t.Context(), id, nil, nil); err != nil && !errors.Is(err, changes.ErrApplied) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := f.store.Applied()
	if err != nil || len(list) != 1 || !f.held().Empty() {
		t.Fatalf("%+v, %v, %q", list, err, summary(f.held()))
	}
}
