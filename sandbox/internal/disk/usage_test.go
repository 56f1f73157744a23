package disk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

func measure(t *testing.T, dir string, most disk.Usage) disk.Usage {
	t.Helper()
	used, err := disk.Measure(dir, most, nil)
	check(t, err)
	return used
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plant makes files of so many bytes, and the directories that lead to them.
func plant(t *testing.T, dir string, bytes int, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(t, os.WriteFile(file, make([]byte, bytes), 0o644))
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if used := measure(t, dir, disk.Usage{}); used != (disk.Usage{}) {
		t.Errorf("an empty workspace holds %+v", used)
	}
	plant(t, dir, 100_000, "top", "a/b/deep", sandbox.PrivateDir+"/home/private")
	var visited []string
	used, err := disk.Measure(dir, disk.Unbounded, func(path string, info fs.FileInfo) {
		if info.Name() != path[strings.LastIndex(path, "/")+1:] {
			t.Errorf("%s is visited as %s", path, info.Name())
		}
		visited = append(visited, path)
	})
	check(t, err)
	if used.Files != 7 || used.Bytes < 300_000 || used.Bytes > 1<<20 || used.Missed != 0 {
		t.Errorf("3 files and 4 directories are %+v", used)
	}
	want := map[string]bool{}
	for _, name := range []string{"top", "a", "a/b", "a/b/deep", sandbox.PrivateDir, sandbox.PrivateDir + "/home", sandbox.PrivateDir + "/home/private"} {
		want[name] = true
	}
	got := map[string]bool{}
	for _, path := range visited {
		got[path] = true
	}
	if diff := cmp.Diff(want, got); diff != "" || len(visited) != used.Files {
		t.Errorf("of %d visited (-want +got):\n%s", len(visited), diff)
	}
	if _, err := disk.Measure(filepath.Join(dir, "gone"), disk.Unbounded, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there gives %v", err)
	}
}

func TestMeasureIsBoundedInDepth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, 0, strings.Repeat("d/", 64)+"seen")
	if used := measure(t, dir, disk.Unbounded); used.Files != 65 || used.Missed != 0 {
		t.Errorf("64 directories deep there are %+v", used)
	}
	plant(t, dir, 0, strings.Repeat("d/", 65)+"unseen")
	if used := measure(t, dir, disk.Unbounded); used.Files != 66 || used.Missed != 1 {
		t.Errorf("65 directories deep there are %+v", used)
	}
}

// All that is left out is one missed, wherever it lies: so tidying up, by which
// less is left out, adds nothing that is missed.
func TestMeasureIsBoundedInFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 10 {
		plant(t, dir, 0, fmt.Sprintf("%d/a", i), fmt.Sprintf("%d/b", i))
	}
	for files := range 30 {
		if used := measure(t, dir, disk.Usage{Bytes: math.MaxInt64, Files: files, Missed: math.MaxInt}); used.Files != files+1 || used.Missed != 1 {
			t.Errorf("of 30, with a bound of %d, are counted %+v", files, used)
		}
	}
	if used := measure(t, dir, disk.Usage{Bytes: math.MaxInt64, Files: 30}); used.Files != 30 || used.Missed != 0 {
		t.Errorf("of 30, with a bound of as many, are counted %+v", used)
	}
}

// What more there is, once there is too much, is not looked at.
func TestMeasureEndsOnceThereIsTooMuch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 20 {
		plant(t, dir, 10_000, fmt.Sprintf("%d/a", i), fmt.Sprintf("%d/b", i))
	}
	most := disk.Usage{Bytes: 300_000, Files: math.MaxInt}
	if used := measure(t, dir, most); !used.Exceeds(most) || used.Bytes > 350_000 || used.Files == 60 {
		t.Errorf("with a bound of %+v there are %+v", most, used)
	}
	plant(t, dir, 0, strings.Repeat("d/", 70)+"deep", strings.Repeat("e/", 70)+"deep")
	most = disk.Usage{Bytes: math.MaxInt64, Files: math.MaxInt}
	if used := measure(t, dir, most); !used.Exceeds(most) || used.Missed != 2 {
		t.Errorf("with a bound of %+v there are %+v", most, used)
	}
}

func TestUsageExceeds(t *testing.T) {
	t.Parallel()
	most := disk.Usage{Bytes: 10, Files: 20, Missed: 30}
	for used, want := range map[disk.Usage]bool{
		{}: false, most: false, {Bytes: 11}: true, {Files: 21}: true, {Missed: 31}: true,
	} {
		if used.Exceeds(most) != want {
			t.Errorf("%+v exceeds %+v: %v", used, most, !want)
		}
	}
}
