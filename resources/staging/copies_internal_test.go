package staging

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// settle takes copies of a skill until its files were last changed long
// enough ago, and returns the version.
func (c *Copies) settle(t testing.TB, dir string) *version {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		taken, err := c.Take(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		taken.Release()
		if v := c.newest[dir]; v.proof {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatal("an unchanged skill is copied again and again")
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}

// Files that did not change are not read. That shows by a digest that they do
// not have, put where the right one was.
func TestCopiesReadNothingTwice(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("every file is read every time here")
	}
	copies, err := New(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer copies.Close()
	dir := filepath.Join(t.TempDir(), "skill")
	for _, name := range []string{"scripts", ".git"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"SKILL.md", "scripts/run.sh"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if later := time.Now().Add(time.Hour); os.Chtimes(filepath.Join(dir, "SKILL.md"), later, later) != nil {
		t.Fatal("the time of the last write cannot be set")
	}
	copies.settle(t, dir).digest = "forged"
	for _, name := range []string{".git/index", "SKILL.md~"} { // no content
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if taken, err := copies.Take(t.Context(), dir); err != nil || taken.Digest != "forged" {
		t.Errorf("an unchanged skill was read again: %v, %v", taken, err)
	}
	if err := os.Chmod(filepath.Join(dir, "scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if taken, err := copies.Take(t.Context(), dir); err != nil || taken.Digest == "forged" {
		t.Errorf("a changed skill was not read again: %v, %v", taken, err)
	}
}

func BenchmarkCopies(b *testing.B) {
	for _, files := range []int{20, 2000} {
		dir := b.TempDir()
		for i := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, 20_000), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("first/files=%d", files), func(b *testing.B) {
			for b.Loop() {
				copies, err := New(b.TempDir(), slog.New(slog.DiscardHandler))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := copies.Take(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				copies.Close()
				b.StartTimer()
			}
		})
		b.Run(fmt.Sprintf("unchanged/files=%d", files), func(b *testing.B) {
			copies, err := New(b.TempDir(), slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			defer copies.Close()
			copies.settle(b, dir)
			for b.Loop() {
				taken, err := copies.Take(b.Context(), dir)
				if err != nil {
					b.Fatal(err)
				}
				taken.Release()
			}
		})
	}
}
