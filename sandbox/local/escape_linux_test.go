//go:build amd64 || arm64

package local_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest/escape"
)

var update = flag.Bool("update", false, "rewrite the table of ESCAPES.md")

// minimum is how many attempts must have been shown to mean anything.
const minimum = 60

func TestEscapes(t *testing.T) {
	testenv.Slow(t, "makes a hundred attempts to get out")
	full, restricted := opener(local.Full)(t), opener(local.Restricted)(t)
	defer full.Close()
	defer restricted.Close()
	outcomes := escape.Try(t, full, restricted)
	shown := 0
	for name, of := range outcomes {
		if of[0] != escape.NotShown {
			shown++
		}
		if (of[0] == escape.Open) != slices.Contains(openInFull, name) && of[0] != escape.NotShown {
			t.Errorf("%s is %s in the full tier", name, of[0])
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
		for name, phrase := range dependent { // on the machine
			if phrase != filesOfServer || strings.Contains(restricted.Info().Notice, phrase) {
				outcomes[name][1] = escape.NotShown
			}
		}
		escape.CompareTable(t, "../ESCAPES.md", *update, outcomes, "local, full", "local, restricted")
	}
	asNobodyToo(t)
}

// Nothing gets at what a project hides or at what in it is the user's.
func TestEscapesFromProject(t *testing.T) {
	testenv.Slow(t, "makes dozens of attempts on a project")
	full, restricted := opener(local.Full)(t), opener(local.Restricted)(t)
	defer full.Close()
	defer restricted.Close()
	outcomes := escape.TryProject(t, full, restricted)
	for name, of := range outcomes {
		if of[0] != escape.Blocked || of[1] != escape.Blocked {
			t.Errorf("%s is %q", name, of)
		}
	}
	if os.Geteuid() == 0 {
		escape.CompareTable(t, "../ESCAPES.md", *update, outcomes, "local, full", "local, restricted")
	}
	asNobodyToo(t)
}

// Nothing leads around the proxy of a program or changes what it is shown.
func TestEscapesWithGrants(t *testing.T) {
	testenv.Slow(t, "makes dozens of attempts with grants")
	full, restricted := opener(local.Full)(t), opener(local.Restricted)(t)
	defer full.Close()
	defer restricted.Close()
	open := []string{"share-lock-of-shown"}
	if strings.Contains(restricted.Info().Notice, filesOfServer) {
		open = append(open, "change-mode-in-shown", "change-mode-of-shown", "change-times-in-shown")
	}
	outcomes := escape.TryGrants(t, full, restricted)
	for name, of := range outcomes {
		if of[0] == escape.Open {
			t.Errorf("%s is open in the full tier", name)
		}
		if (of[1] == escape.Open) != slices.Contains(open, name) && of[1] != escape.NotShown {
			t.Errorf("%s is %s in the restricted tier", name, of[1])
		}
	}
	if os.Geteuid() == 0 && len(open) == 1 {
		escape.CompareTable(t, "../ESCAPES.md", *update, outcomes, "local, full", "local, restricted")
	}
	asNobodyToo(t)
}

// openInFull is what the full tier leaves open, as ESCAPES.md says.
var openInFull = []string{"open-netlink", "learn-size-of-disk"}

// dependent are attempts that the restricted tier stops where the machine has
// what it takes, with what its notice says where it does not.
var dependent = map[string]string{
	"exceed-processes":        processesOfAll,
	"find-process":            signalsToOthers,
	"signal-process":          signalsToOthers,
	"signal-process-by-pidfd": signalsToOthers,
	"test-access-of-file":     filesOfServer,
	"change-mode":             filesOfServer,
	"change-owner":            filesOfServer,
	"change-times":            filesOfServer,
	"change-mode-in-skill":    filesOfServer,
	"be-user-0":               filesOfServer,
	"run-setuid-program":      filesOfServer,
}

// openInRestricted is what the restricted tier leaves open, as its notice says.
var openInRestricted = []string{
	"stat-file", "enter-directory", "share-lock-of-skill", "share-record-lock-of-skill", "share-lock-of-system",
	"learn-uptime", "learn-size-of-disk", "learn-host-name",
}
