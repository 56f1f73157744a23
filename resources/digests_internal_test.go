package resources

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// settle digests until so many files of the skill are remembered, as each is
// once its last change lies far enough back.
func (d *Digests) settle(t testing.TB, skill *catalog.Skill, files int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := d.Manifest(t.Context(), skill); err != nil {
			t.Fatal(err)
		}
		d.mu.Lock()
		known := len(d.files)
		d.mu.Unlock()
		if known >= files {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d files are remembered", known, files)
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}

// An unchanged file is not read again; a changed one is, even where its size
// and the time of its last write are put back. That a file was not read again
// shows by a digest that it does not have, put where the right one was.
func TestDigestsAreReused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("nothing is remembered here")
	}
	dir := t.TempDir()
	host := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(host, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The time of the last write can be set at will; that of the last change
	// of status cannot, and it is now.
	if old := time.Now().Add(-time.Hour); os.Chtimes(host, old, old) != nil {
		t.Fatal("the time of the last write cannot be set")
	}
	skill := &catalog.Skill{Name: "s", Path: "s", Dir: dir, Entry: "SKILL.md"}
	var d Digests
	fresh, err := d.Manifest(t.Context(), skill)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.files) != 0 {
		t.Error("a file was remembered that changed just now")
	}
	d.settle(t, skill, 1)
	for id, known := range d.files {
		known.sum = [32]byte{1}
		d.files[id] = known
	}
	reused, err := d.Manifest(t.Context(), skill)
	if err != nil || reused[0].Digest == fresh[0].Digest {
		t.Errorf("an unchanged file was read again: %v, %v", reused, err)
	}
	info, err := os.Stat(host)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(host, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(host, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	changed, err := d.Manifest(t.Context(), skill)
	if err != nil || changed[0].Digest == reused[0].Digest || changed[0].Digest == fresh[0].Digest {
		t.Errorf("a changed file was not read again: %v, %v", changed, err)
	}
}

// No more files are remembered than there is room for.
func TestDigestsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := filepath.Join(dir, "file")
	if err := os.WriteFile(host, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(host)
	if err != nil {
		t.Fatal(err)
	}
	now := filestat.Of(info)
	if !now.Known() {
		t.Skip("nothing is remembered here")
	}
	later := time.Now().Add(time.Hour)
	for limit, want := range map[int]int{-1: 0, 1: 1, 3: 3} {
		d := Digests{max: limit, files: map[filestat.ID]stateSum{}}
		for range limit {
			d.files[filestat.ID{Device: 1, Inode: uint64(len(d.files))}] = stateSum{}
		}
		d.remember(info, [32]byte{1}, 0, later)
		if _, ok := d.lookup(now); ok != (want > 0) || len(d.files) != want {
			t.Errorf("with room for %d there are %d, the newest among them: %v", limit, len(d.files), ok)
		}
	}
}

// Many may ask at once, with little room, and all get the same.
func TestDigestsConcurrently(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testfiles.Fill(t, dir, map[string]string{"SKILL.md": "x", "a": "a", "b": "b", "c": "c"})
	skill := &catalog.Skill{Name: "s", Path: "s", Dir: dir, Entry: "SKILL.md"}
	for _, limit := range []int{0, 2, -1} {
		digests := Digests{max: limit}
		want, err := digests.Manifest(t.Context(), skill)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					got, err := digests.Manifest(t.Context(), skill)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("Manifest = %v, %v", got, err)
					}
				}
			})
		}
		all.Wait()
	}
}

func BenchmarkManifest(b *testing.B) {
	const files = 50
	dir := b.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, 20_000), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	skill := &catalog.Skill{Name: "s", Path: "s", Dir: dir, Entry: "SKILL.md"}
	manifest := func(b *testing.B, digests *Digests) {
		if _, err := digests.Manifest(b.Context(), skill); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			manifest(b, new(Digests))
		}
	})
	b.Run("warm", func(b *testing.B) {
		if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
			b.Skip("nothing is remembered here")
		}
		var digests Digests
		digests.settle(b, skill, files)
		for b.Loop() {
			manifest(b, &digests)
		}
	})
}
