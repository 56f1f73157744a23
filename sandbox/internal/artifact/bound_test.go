package artifact

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Past the bound of the walk, files that are older than the run do not pass
// for new ones. The bound is lower here than the real one, for speed.
func TestEntriesAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for i := range 30 {
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	before, err := takeOf(dir, 19)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(before.entries); n != 20 {
		t.Fatalf("%d entries were taken", n)
	}
	if list, omitted := before.Since(before); len(list) != 0 || omitted == 0 {
		t.Errorf("a bounded walk gives %v, %d omitted", list, omitted)
	}
	after, err := takeOf(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := after.Since(before); len(list) != 0 {
		t.Errorf("old files pass for new: %v", list)
	}
}
