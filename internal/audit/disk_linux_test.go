package audit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// A disk that is full, or read-only, has nothing recorded and nothing done; no
// line is torn by it, and as soon as there is room all is as before.
func TestDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, size string
		run        func(t *testing.T, dir string)
	}{
		{"full", "256k", testFull},
		{"read-only", "1m", testReadOnly},
	} {
		t.Run(test.name, func(t *testing.T) {
			if dir := os.Getenv(dirEnv); dir != "" {
				test.run(t, filepath.Join(dir, "audit"))
				return
			}
			t.Parallel()
			onDisk(t, test.size)
		})
	}
}

// onDisk runs the test again where a small file system is mounted.
func onDisk(t *testing.T, size string) {
	t.Helper()
	script := fmt.Sprintf(`mount -t tmpfs -o size=%s none "$%s" && exec "$0" -test.run='^%s$'`, size, dirEnv, strings.ReplaceAll(t.Name(), "/", "$/^"))
	again := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c", script, os.Args[0])
	again.Env = append(os.Environ(), dirEnv+"="+t.TempDir())
	out, err := again.CombinedOutput()
	switch {
	case err == nil && strings.Contains(string(out), "PASS"):
	case strings.Contains(string(out), "FAIL") || strings.Contains(string(out), "panic"):
		t.Errorf("%s", out)
	default:
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
}

func testFull(t *testing.T, dir string) {
	log := open(t, dir, audit.Options{})
	filler := filepath.Join(filepath.Dir(dir), "filler")
	record := audit.Record{Event: audit.Call, Rule: strings.Repeat("r", 256), Outcome: audit.OK}
	entry, err := log.Begin(record)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for range 3 { // full, room, full, …
		if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the disk is not full: %v", err)
		}
		for err = nil; err == nil; { // what is left of the last page
			if err = log.Append(record); err == nil {
				written++
			}
		}
		refused(t, err, syscall.ENOSPC)
		_, err = log.Begin(record)
		refused(t, err, syscall.ENOSPC)
		if records, broken := read(t, dir); len(records) != written+1 || broken != 0 {
			t.Fatalf("%d records and %d broken lines, of %d written", len(records), broken, written)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if err := log.Append(record); err != nil {
			t.Fatal(err)
		}
		written++
	}
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	for err = nil; err == nil; {
		err = log.Append(record)
	}
	refused(t, entry.End(record), syscall.ENOSPC)
	if records, _ := read(t, dir); records[len(records)-1].Outcome != audit.Unfinished {
		t.Error("what began and could not be ended is in the log no more")
	}
}

func testReadOnly(t *testing.T, dir string) {
	log := open(t, dir, audit.Options{})
	record := audit.Record{Event: audit.Call, Outcome: audit.OK}
	if err := log.Append(record); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", filepath.Dir(dir), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	refused(t, log.Append(record), syscall.EROFS)
	_, err := log.Begin(record)
	refused(t, err, syscall.EROFS)
	_, err = audit.Open(audit.Options{Dir: dir})
	refused(t, err, syscall.EROFS)
	// It can be read all the same.
	if records, broken := read(t, dir); len(records) != 1 || broken != 0 {
		t.Errorf("%d records and %d broken lines", len(records), broken)
	}
}

func refused(t *testing.T, err error, want syscall.Errno) {
	t.Helper()
	var failed *audit.Error
	if !errors.As(err, &failed) || !errors.Is(err, want) || failed.Reason() != want.Error() {
		t.Fatal(fmt.Errorf("refused with %w", err))
	}
}
