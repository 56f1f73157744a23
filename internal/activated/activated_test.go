package activated_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/activated"
)

func namesOf(dir, session string, now time.Time) []string {
	return activated.New(activated.Options{Dir: dir, Session: session, Now: func() time.Time { return now }}).Names()
}

// Names are those of one session, whichever process of it is asked, for a month.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "sessions"), time.Now()
	clock := func() time.Time { return now }
	one := activated.New(activated.Options{Dir: dir, Session: "one", Now: clock})
	same := activated.New(activated.Options{Dir: dir, Session: "one", Now: clock})
	if got := one.Names(); len(got) > 0 {
		t.Errorf("first: %q", got)
	}
	same.Names()
	for _, name := range []string{"a", "b", "a"} {
		one.Add(name)
	}
	same.Add("c")
	if got := namesOf(dir, "one", now); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("one has %q", got)
	}
	if got := namesOf(dir, "two", now); len(got) > 0 {
		t.Errorf("two has %q", got)
	}
	if got := namesOf(dir, "one", now.Add(31*24*time.Hour)); len(got) > 0 {
		t.Errorf("after a month one has %q", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, "activated.json"))
	if err != nil || strings.Contains(string(text), "one") {
		t.Errorf("kept is %q, %v", text, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
}

// What is kept is bounded: in sessions, in names and in their length.
func TestBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	many := activated.New(activated.Options{Dir: dir, Session: "many"})
	many.Add(strings.Repeat("x", 1000))
	for i := range 40 {
		many.Add(fmt.Sprint(i))
	}
	if got := namesOf(dir, "many", time.Now()); len(got) != 32 || got[0] != "8" || got[31] != "39" {
		t.Errorf("many has %q", got)
	}
	for i := range 100 {
		activated.New(activated.Options{Dir: dir, Session: fmt.Sprint(i)}).Add("a")
	}
	if got := namesOf(dir, "many", time.Now()); len(got) > 0 {
		t.Errorf("the oldest session of too many has %q", got)
	}
	if got := namesOf(dir, "0", time.Now()); len(got) != 1 {
		t.Errorf("the oldest of as many as may be has %q", got)
	}
}

// A file that was not written here says nothing, and is replaced; one that others
// can write is neither read nor written.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[", `{"a":1}`, "[1]", strings.Repeat(" ", 5<<20)} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "activated.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := namesOf(dir, "one", time.Now()); len(got) > 0 {
			t.Errorf("%.10q: %q", text, got)
		}
		activated.New(activated.Options{Dir: dir, Session: "one"}).Add("a")
		if got := namesOf(dir, "one", time.Now()); len(got) != 1 {
			t.Errorf("%.10q: %q", text, got)
		}
		if os.PathSeparator == '/' {
			if err := os.Chmod(file, 0o666); err != nil {
				t.Fatal(err)
			}
			if got := namesOf(dir, "one", time.Now()); len(got) > 0 {
				t.Errorf("a file that others can write says %q", got)
			}
		}
	}
}
