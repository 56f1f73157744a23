package staging_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
	"github.com/skills-mcp/skills-mcp/resources/staging"
)

// What a program that nothing isolates wrote into a copy is not there for the
// next one.
func TestSpoiltCopyIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "1", "scripts/run.sh": "honest"})
	copies, _ := newCopies(t, io.Discard)
	for name, spoil := range map[string]func(copy string) error{
		"a file more": func(copy string) error { return os.WriteFile(filepath.Join(copy, "evil.py"), nil, 0o644) },
		"a file less": func(copy string) error { return os.Remove(filepath.Join(copy, "scripts/run.sh")) },
		"another content": func(copy string) error {
			file := filepath.Join(copy, "scripts/run.sh")
			return errors.Join(os.Chmod(file, 0o644), os.WriteFile(file, []byte("EVIL!!"), 0o644), os.Chmod(file, 0o444))
		},
		"no directory": os.RemoveAll,
	} {
		first := take(t, copies, dir)
		for _, name := range []string{".", "scripts"} {
			if err := os.Chmod(filepath.Join(first.Dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := spoil(first.Dir); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		second := take(t, copies, dir)
		if second.Dir == first.Dir || second.Digest != first.Digest || copyDigest(t, second.Dir) != first.Digest {
			t.Errorf("%s: the spoilt copy was given again", name)
		}
	}
}

// Whoever swaps a skill's files while it is copied gets no copy whose digest
// is not that of its content.
func TestSwapsWhileASkillIsCopied(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, nil)
	const files = 20
	version := func(content string) {
		for i := range files {
			name := filepath.Join(dir, fmt.Sprintf("f%02d", i))
			if err := os.WriteFile(name+".new", []byte(content), 0o644); err != nil {
				t.Error(err)
			}
			if err := os.Rename(name+".new", name); err != nil {
				t.Error(err)
			}
		}
	}
	version("a")
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for content := byte('a'); ctx.Err() == nil; content++ {
			version(strings.Repeat(string(content), 100))
		}
	})
	copies, _ := newCopies(t, io.Discard)
	refused := 0
	for range 50 {
		made, err := copies.Take(t.Context(), dir)
		if err != nil {
			filetest.WantRule(t, err, contained.Unreadable)
			refused++
			continue
		}
		if got := copyDigest(t, made.Dir); got != made.Digest {
			t.Errorf("the digest is %s, and that of the content %s", made.Digest, got)
		}
		made.Release()
	}
	stop()
	writer.Wait()
	take(t, copies, dir)
	t.Logf("%d of 50 refused", refused)
}

func TestCopyRefusals(t *testing.T) {
	t.Parallel()
	copies, _ := newCopies(t, io.Discard)
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "1", "big": ""})
	if err := os.Truncate(filepath.Join(dir, "big"), 1<<30); err != nil {
		t.Fatal(err)
	}
	_, err := copies.Take(t.Context(), dir)
	filetest.WantRule(t, err, contained.TooLarge)
	many := filetest.Plant(t, map[string]string{"deep/f": ""})
	for i := range 50_000 {
		name := filepath.Join(many, "deep/f"+strconv.Itoa(i))
		if os.Link(filepath.Join(many, "deep/f"), name) == nil {
			continue // a name of the same file, which takes less time to make
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err = copies.Take(t.Context(), many)
	filetest.WantRule(t, err, contained.TooLarge)
	_, err = copies.Take(t.Context(), filepath.Join(dir, "gone"))
	filetest.WantRule(t, err, contained.NotFound)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := copies.Take(ctx, filetest.Plant(t, map[string]string{"SKILL.md": "1"})); !errors.Is(err, context.Canceled) {
		t.Errorf("when none waits any more: %v", err)
	}
	closed, err := staging.New(t.TempDir(), slog.New(slog.DiscardHandler))
	if err == nil {
		err = closed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := closed.Take(t.Context(), dir); !errors.Is(err, staging.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// What a server that was killed left is removed by the next one.
func TestCopiesLeftBehindAreRemoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("nothing shows there whether the server lives")
	}
	base := t.TempDir()
	left := filepath.Join(base, "skills-mcp-copies-1", "2", "planted")
	testfiles.Write(t, filepath.Join(left, "SKILL.md"), "1")
	if err := os.Chmod(left, 0o555); err != nil {
		t.Fatal(err)
	}
	copies, err := staging.New(base, slog.New(slog.DiscardHandler))
	if err == nil {
		err = copies.Close() // which waits
	}
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}
