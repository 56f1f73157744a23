package filestat_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

func stat(t *testing.T, name string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestStatesDiffer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	for _, name := range []string{one, other} {
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := filestat.Of(stat(t, one))
	if before != filestat.Of(stat(t, one)) {
		t.Error("a file differs from itself")
	}
	if before.Known() && before.ID == filestat.Of(stat(t, other)).ID {
		t.Error("two files have one identity")
	}
	if err := os.WriteFile(one, []byte("longer text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := filestat.Of(stat(t, one)); after == before || after.ID != before.ID {
		t.Errorf("after writing it is %v, before %v", after, before)
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	read := time.Unix(1_000_000_000, 0)
	for _, test := range []struct {
		modified, changed time.Duration // before the reading
		want              bool
	}{
		{time.Hour, time.Hour, true},
		{time.Hour, time.Second, false},
		{time.Second, time.Hour, false},
		{-time.Hour, time.Hour, false},
		{filestat.SettleTime, time.Hour, false},
		{filestat.SettleTime + 1, filestat.SettleTime + 1, true},
	} {
		state := filestat.State{Modified: read.Add(-test.modified).UnixNano(), Changed: read.Add(-test.changed).UnixNano()}
		if got := state.Settled(read); got != test.want {
			t.Errorf("written %v and changed %v before: %v", test.modified, test.changed, got)
		}
	}
}
