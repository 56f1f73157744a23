package answers_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/answers"
)

var report = answers.Subject{Skill: "report", Root: "/skills/report", Digest: "sha256:one", Kind: "apply", Grant: "write docs/**"}

// with returns the subject with one field changed.
func with(change func(*answers.Subject)) answers.Subject {
	s := report
	change(&s)
	return s
}

// store is one over a directory of its own, with what it logs.
type store struct {
	*answers.Store
	dir string
	log *bytes.Buffer
}

func newStore(t *testing.T) store {
	t.Helper()
	log := &bytes.Buffer{}
	dir := filepath.Join(t.TempDir(), "state", "grants")
	return store{answers.New(answers.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(log, nil))}), dir, log}
}

func (s store) file() string { return filepath.Join(s.dir, "answers.json") }

func TestRemember(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if _, ok := s.Find(report); ok {
		t.Error("something is remembered from the beginning")
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory is made by looking: %v", err)
	}
	given, err := s.Remember(report, "Write docs/**.")
	if err != nil {
		t.Fatal(err)
	}
	found, ok := s.Find(report)
	if diff := cmp.Diff(given, found); !ok || diff != "" {
		t.Errorf("found %t (-given +found):\n%s", ok, diff)
	}
	if again, ok := answers.New(answers.Options{Dir: s.dir}).Find(report); !ok || again.ID != given.ID {
		t.Error("another server does not know it")
	}
	for name, want := range map[string]fs.FileMode{s.dir: fs.ModeDir | 0o700, s.file(): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, want %v (%v)", name, info.Mode(), want, err)
		}
	}
}

// TestBoundTo: every part of a subject counts.
func TestBoundTo(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]answers.Subject{
		"another skill":     with(func(s *answers.Subject) { s.Skill = "reports" }),
		"another directory": with(func(s *answers.Subject) { s.Root = "/other/report" }),
		"another kind":      with(func(s *answers.Subject) { s.Kind = "run" }),
		"another grant":     with(func(s *answers.Subject) { s.Grant = "write **" }),
		"parts moved":       with(func(s *answers.Subject) { s.Kind, s.Grant = "appl", "ewrite docs/**" }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			if _, err := s.Remember(report, ""); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.Find(other); ok {
				t.Error("an answer about something else is found")
			}
			if _, ok := s.Find(report); !ok {
				t.Error("the answer is gone")
			}
		})
	}
}

// TestDiesWithTheVersion: a skill that changed and changes back is asked about
// again.
func TestDiesWithTheVersion(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	other := with(func(s *answers.Subject) { s.Root = "/other/report" })
	for _, subject := range []answers.Subject{report, other} {
		if _, err := s.Remember(subject, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.Find(with(func(s *answers.Subject) { s.Digest = "sha256:two" })); ok {
		t.Error("the answer holds for another version")
	}
	if _, ok := s.Find(report); ok {
		t.Error("the answer came back with the old version")
	}
	if _, ok := s.Find(other); !ok {
		t.Error("the answer about a skill elsewhere is gone too")
	}
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i, subject := range []answers.Subject{
		{},
		with(func(s *answers.Subject) { s.Skill = "" }), with(func(s *answers.Subject) { s.Root = "" }),
		with(func(s *answers.Subject) { s.Digest = "" }), with(func(s *answers.Subject) { s.Kind = "" }),
		with(func(s *answers.Subject) { s.Grant = "" }),
	} {
		if _, err := s.Remember(subject, ""); err == nil {
			t.Errorf("subject %d is remembered", i)
		}
		if _, ok := s.Find(subject); ok {
			t.Errorf("subject %d is found", i)
		}
	}
}

func TestListAndRevoke(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var ids []string
	for i := range 3 {
		given, err := s.Remember(with(func(s *answers.Subject) { s.Grant = fmt.Sprint("grant ", i) }), fmt.Sprint("number ", i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, given.ID)
	}
	revoked, err := s.Revoke(func(a answers.Answer) bool { return a.ID == ids[1] })
	if err != nil || len(revoked) != 1 || revoked[0].Shown != "number 1" {
		t.Errorf("revoked %v, %v", revoked, err)
	}
	if revoked, err := s.Revoke(func(a answers.Answer) bool { return a.ID == ids[1] }); err != nil || len(revoked) != 0 {
		t.Errorf("revoked again %v, %v", revoked, err)
	}
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].ID != ids[0] || all[1].ID != ids[2] {
		t.Errorf("left are %v, %v", all, err)
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("left are %v, %v", all, err)
	}
	if err := newStore(t).Clear(); err != nil {
		t.Errorf("nothing cannot be cleared: %v", err)
	}
}

// plant writes the store's file as anybody might.
func plant(t *testing.T, s store, text string) {
	t.Helper()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamaged: of a file that is not as it was written nothing is remembered,
// which is said, and an answer given then is kept.
func TestDamaged(t *testing.T) {
	t.Parallel()
	good := newStore(t)
	if _, err := good.Remember(report, ""); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(good.file())
	if err != nil {
		t.Fatal(err)
	}
	whole := string(written)
	for name, text := range map[string]string{
		"empty":               "",
		"no JSON":             "allow everything",
		"null":                "null",
		"a list":              "[]",
		"cut off":             whole[:len(whole)/2],
		"another subject":     strings.Replace(whole, "docs/**", "**", 1),
		"another id":          strings.Replace(whole, `"grant-`, `"grant-0`, 1),
		"an unknown field":    strings.Replace(whole, `"kind"`, `"kinds": "all", "kind"`, 1),
		"an empty field":      strings.Replace(whole, `"sha256:one"`, `""`, 1),
		"no time":             strings.Replace(whole, `"given"`, `"gave"`, 1),
		"a version before":    strings.Replace(whole, `"version": 1`, `"version": 0`, 1),
		"longer than it may":  whole + strings.Repeat(" ", 17<<20),
		"bytes that are none": "\xff\xfe\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			plant(t, s, text)
			if _, ok := s.Find(report); ok {
				t.Error("it is believed")
			}
			if !strings.Contains(s.log.String(), "nothing is remembered") {
				t.Errorf("no warning: %q", s.log)
			}
			if _, err := s.List(); err == nil {
				t.Error("it is listed")
			}
			if _, err := s.Remember(report, ""); err != nil {
				t.Errorf("no answer can be kept any more: %v", err)
			}
			if _, ok := s.Find(report); !ok {
				t.Error("the answer given then is lost")
			}
			if aside, err := os.ReadFile(filepath.Join(s.dir, "answers.json.corrupt")); err != nil || string(aside) != text {
				t.Errorf("the damaged file is not set aside: %v", err)
			}
		})
	}
}

// TestLaterVersion: a file of a later version of the program is left alone.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const later = `{"version": 2, "grants": {}}`
	plant(t, s, later)
	if _, ok := s.Find(report); ok {
		t.Error("it is understood")
	}
	if _, err := s.Remember(report, ""); err == nil {
		t.Error("it is overwritten")
	}
	if now, err := os.ReadFile(s.file()); err != nil || string(now) != later {
		t.Errorf("it is %q by now, %v", now, err)
	}
}

// TestServersShare: what several servers remember at once is all there.
func TestServersShare(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var servers sync.WaitGroup
	for server := range 4 {
		servers.Go(func() {
			own := answers.New(answers.Options{Dir: s.dir})
			for i := range 10 {
				subject := with(func(s *answers.Subject) { s.Grant = fmt.Sprint(server, " ", i) })
				if _, err := own.Remember(subject, ""); err != nil {
					t.Error(err)
				}
				if _, ok := own.Find(subject); !ok {
					t.Errorf("%s is not found", subject.Grant)
				}
			}
		})
	}
	servers.Wait()
	if all, err := s.List(); err != nil || len(all) != 40 {
		t.Errorf("%d of 40 are there, %v", len(all), err)
	}
}
