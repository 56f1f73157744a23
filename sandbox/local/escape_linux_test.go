//go:build amd64 || arm64

package local_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest/escape"
)

var update = flag.Bool("update", false, "rewrite ESCAPES.md")

const escapesHead = `# What programs have tried to get out

Written by ` + "`go test ./sandbox/local -run TestEscapes -update`" + ` as root on a machine with all that the attempts
are about. Every attempt succeeds in a plain subprocess, as which it is made first; an attempt that does not on some
machine is *not shown* there. "As root" are those that an ordinary user could not make anyway.

`

// minimum is how many attempts must have been shown to mean anything.
const minimum = 60

func TestEscapes(t *testing.T) {
	full, restricted := opener(local.Full)(t), opener(local.Restricted)(t)
	defer full.Close()
	defer restricted.Close()
	outcomes := escape.Try(t, full, restricted)
	shown := 0
	for name, of := range outcomes {
		switch of[0] {
		case escape.Open:
			t.Errorf("%s gets out of the full tier", name)
			shown++
		case escape.Blocked:
			shown++
		}
		open := slices.Contains(openInRestricted, name)
		if phrase, depends := dependent[name]; depends {
			open = strings.Contains(restricted.Info().Notice, phrase)
		}
		if (of[1] == escape.Open) != open && of[1] != escape.NotShown {
			t.Errorf("%s is %s in the restricted tier", name, of[1])
		}
	}
	if shown < minimum {
		t.Errorf("%d attempts were shown, want at least %d", shown, minimum)
	}
	t.Logf("%d attempts were shown", shown)
	if os.Geteuid() == 0 {
		compareTable(t, escapesHead+escape.Table(escape.Attempts(), outcomes, "full", "restricted"))
	}
	asNobodyToo(t)
}

// compareTable holds the page of the documentation to what was found.
func compareTable(t *testing.T, found string) {
	t.Helper()
	const page = "ESCAPES.md"
	if *update {
		if err := os.WriteFile(page, []byte(found), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	// What a machine does not have is recorded from one that has.
	want := slices.Collect(strings.Lines(string(recorded)))
	got := slices.Collect(strings.Lines(found))
	for i := range min(len(got), len(want)) {
		if strings.Contains(got[i]+want[i], string(escape.NotShown)) || dependsOnMachine(got[i]) {
			got[i] = want[i]
		}
	}
	found = strings.Join(got, "")
	if diff := cmp.Diff(string(recorded), found); diff != "" {
		t.Errorf("%s is not what was found (-recorded +found); run this test with -update:\n%s", page, diff)
	}
}

// dependent are attempts that the restricted tier stops where the machine has
// what it takes, with what its notice says where it does not.
var dependent = map[string]string{
	"exceed-processes":        processesOfAll,
	"find-process":            signalsToOthers,
	"signal-process":          signalsToOthers,
	"signal-process-by-pidfd": signalsToOthers,
}

// dependsOnMachine tells whether a line of the table is about one of them.
func dependsOnMachine(line string) bool {
	for name := range dependent {
		if strings.Contains(line, "`"+name+"`") {
			return true
		}
	}
	return false
}

// openInRestricted is what the restricted tier leaves open, as its notice says.
var openInRestricted = []string{
	"stat-file", "test-access-of-file", "enter-directory", "change-mode", "change-owner", "change-times",
	"change-mode-in-skill", "learn-host-name", "be-user-0", "run-setuid-program",
}
