package procstat_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/procstat"
)

// line returns what Linux says of a process of that name.
func line(name string, state byte) string {
	return fmt.Sprintf("7 (%s) %c 3 7 7 0 -1 4194560 120 0 0 0 1 2 0 0 20 0 1 0 8861 5668864 300 18446744073709551615", name, state)
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sleep", "", "a b", "a) Z 1 (b", ") S 1", "(", "line\nbreak", "\xff"} {
		got, ok := procstat.Parse([]byte(line(name, 'S')))
		if want := (procstat.Stat{Name: name, State: 'S', Parent: 3, Started: "8861"}); !ok || got != want {
			t.Errorf("%q: %+v (%v), want %+v", name, got, ok, want)
		}
	}
	for state, dead := range map[byte]bool{'R': false, 'S': false, 'T': false, 'Z': true, 'X': true} {
		if got, _ := procstat.Parse([]byte(line("x", state))); got.Dead() != dead {
			t.Errorf("%c: dead is %v", state, got.Dead())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "7", "7 (sleep", "7 )sleep(", "7 (sleep)", "7 (sleep) S 3",
		strings.Replace(line("x", 'S'), " 3 ", " three ", 1), strings.Replace(line("x", 'S'), " S ", " SS ", 1),
	} {
		if got, ok := procstat.Parse([]byte(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestParseOwn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no such file here")
	}
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := procstat.Parse(text); !ok || got.Parent != os.Getppid() || got.Dead() || got.Name == "" {
		t.Errorf("%q: %+v (%v)", text, got, ok)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("sleep")
	f.Add(") Z 1 (")
	f.Fuzz(func(t *testing.T, name string) {
		if got, ok := procstat.Parse([]byte(line(name, 'R'))); !ok || got.Name != name || got.Dead() {
			t.Errorf("%q: %+v (%v)", name, got, ok)
		}
		procstat.Parse([]byte(name)) // which must return
	})
}
