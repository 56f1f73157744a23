package vm

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// runCases boots a machine and makes a subtest of each case that it runs. What
// the cases are, the script of the machine says.
func runCases(t *testing.T, m machine, want []string) {
	var got []string
	err := m.boot(t.Context(), func(console io.Reader) error {
		lines := bufio.NewScanner(console)
		for name, found := nextCase(t, lines); found; name, found = nextCase(t, lines) {
			got = append(got, name)
			t.Run(name, func(t *testing.T) { readCase(t, lines) })
		}
		return lines.Err()
	})
	if err != nil {
		t.Error(err)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the machine ran the cases %q, want %q", got, want)
	}
}

// nextCase finds the next one that the machine begins.
func nextCase(t *testing.T, lines *bufio.Scanner) (name string, found bool) {
	for lines.Scan() {
		if name, found := strings.CutPrefix(lines.Text(), "vm: case "); found {
			return name, true
		}
		t.Log(lines.Text())
	}
	return "", false
}

// readCase reads up to where the machine says how many tests have failed.
func readCase(t *testing.T, lines *bufio.Scanner) {
	for lines.Scan() {
		if failed, found := strings.CutPrefix(lines.Text(), "vm: failed "); found {
			if failed != "0" {
				t.Errorf("%s tests have failed", failed)
			}
			return
		}
		t.Log(lines.Text())
	}
	t.Error("the machine has stopped")
}
