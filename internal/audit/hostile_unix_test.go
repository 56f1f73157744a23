//go:build unix

package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// What is in the place of the log or of a part of it, and could be somebody
// else's, is refused, when the log is opened and when it is written.
func TestForeignPlaces(t *testing.T) {
	t.Parallel()
	const foreign = 65534
	for _, test := range []struct {
		name string
		make func(dir, other string) error
		root bool // needs root
		says string
	}{
		{"a link to a directory", func(dir, other string) error { return os.Symlink(other, dir) }, false, "is not a directory but something else"},
		{"a link to nothing", func(dir, _ string) error { return os.Symlink("nowhere", dir) }, false, ""},
		{"a file", func(dir, _ string) error { return os.WriteFile(dir, nil, 0o600) }, false, "not a directory"},
		{"a FIFO", func(dir, _ string) error { return syscall.Mkfifo(dir, 0o600) }, false, "not a directory"},
		{"a directory that all may write", func(dir, _ string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) }, false, "can be written by other users"},
		{"a directory below one that all may write", func(dir, _ string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(filepath.Dir(dir), 0o777))
		}, false, "take the audit log away"},
		{"a foreign directory", func(dir, _ string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, foreign, foreign)) }, true, "belongs to another user"},
		{"a directory below a foreign one", func(dir, _ string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(filepath.Dir(dir), foreign, foreign))
		}, true, "belongs to another user"},
		{"a linked file", inside(func(dir, other string) error {
			return os.Symlink(filepath.Join(other, "file"), filepath.Join(dir, "audit.jsonl"))
		}), false, "too many levels of symbolic links"},
		{"a FIFO as a file", inside(func(dir, _ string) error { return syscall.Mkfifo(filepath.Join(dir, "audit.jsonl"), 0o600) }), false, "is not a file but something else"},
		{"a directory as a file", inside(func(dir, _ string) error { return os.Mkdir(filepath.Join(dir, "audit.jsonl"), 0o700) }), false, "is a directory"},
		{"a file that all may write", inside(func(dir, _ string) error {
			name := filepath.Join(dir, "audit.jsonl")
			return errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, 0o666))
		}), false, "can be written by other users"},
		{"a foreign file", inside(func(dir, _ string) error {
			name := filepath.Join(dir, "audit.jsonl")
			return errors.Join(os.WriteFile(name, nil, 0o600), os.Chown(name, foreign, foreign))
		}), true, "belongs to another user"},
		{"a linked lock", inside(func(dir, other string) error {
			return os.Symlink(filepath.Join(other, "file"), filepath.Join(dir, "audit.lock"))
		}), false, "too many levels of symbolic links"},
		{"a linked directory of what runs", inside(func(dir, other string) error { return os.Symlink(other, filepath.Join(dir, "running")) }), false, "is not a directory but something else"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.root && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			base, other := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(other, "file"), []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			// While it was open nothing was wrong.
			dir := filepath.Join(base, "parent", "audit")
			if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
				t.Fatal(err)
			}
			log := open(t, dir, audit.Options{})
			if err := errors.Join(os.RemoveAll(dir), test.make(dir, other)); err != nil {
				t.Fatal(err)
			}
			_, beginErr := log.Begin(audit.Record{Event: audit.Call})
			entry, openErr := audit.Open(audit.Options{Dir: dir})
			if openErr == nil { // it looks at the file when there is something to write
				openErr = entry.Append(audit.Record{})
			}
			for step, err := range map[string]error{"append": log.Append(audit.Record{Event: audit.Call}), "begin": beginErr, "open": openErr} {
				isFile := strings.Contains(test.name, "file") && test.name != "a file"
				isRunning := strings.Contains(test.name, "what runs")
				if step == "begin" && isFile || step == "append" && isRunning {
					continue // they have no part in that
				}
				var refused *audit.Error
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v", step, err)
				} else if reason := refused.Reason(); reason == "" || strings.Contains(reason, base) {
					t.Errorf("%s: the reason is %q", step, reason)
				}
			}
			if content, err := os.ReadFile(filepath.Join(other, "file")); string(content) != "precious" || err != nil {
				t.Errorf("another file was written: %q, %v", content, err)
			}
			if entries, err := os.ReadDir(other); len(entries) != 1 || err != nil {
				t.Errorf("another directory was written: %v, %v", entries, err)
			}
		})
	}
}

// inside returns what makes something in a directory that is fine.
func inside(make func(dir, other string) error) func(dir, other string) error {
	return func(dir, other string) error {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		return make(dir, other)
	}
}

// A log that goes on without what it could not record says so in the server's
// log alone.
func TestContinue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := open(t, dir, audit.Options{OnFailure: audit.Continue})
	entry, err := log.Begin(audit.Record{Event: audit.Call})
	if err != nil {
		t.Fatal(err)
	}
	// As soon as it can be written, it is.
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := entry.End(audit.Record{Event: audit.Call, Outcome: audit.OK}); err != nil {
		t.Fatal(err)
	}
	if records, _ := read(t, dir); len(records) != 1 || records[0].Outcome != audit.OK {
		t.Errorf("the log has %+v", records)
	}
}

// A directory that is removed meanwhile is made again.
func TestRemovedDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "audit")
	log := open(t, dir, audit.Options{})
	for range 3 {
		entry, err := log.Begin(audit.Record{Event: audit.Call})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
		if err := entry.End(audit.Record{Event: audit.Call, Outcome: audit.OK}); err != nil {
			t.Fatal(err)
		}
		if records, _ := read(t, dir); len(records) != 1 {
			t.Errorf("the log has %+v", records)
		}
	}
	// Others still see that this one lives.
	if _, err := log.Begin(audit.Record{Event: audit.Call}); err != nil {
		t.Fatal(err)
	}
	open(t, dir, audit.Options{})
	if left := files(t, dir, "running/*.json"); len(left) != 1 {
		t.Errorf("another process took what runs for ended: %q", left)
	}
}
