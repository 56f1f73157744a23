package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// quotas are what a workspace may hold, and programs that want more.
func quotas() []contract {
	return []contract{
		{name: "quota-bytes", test: testQuotaBytes},
		{name: "quota-files", test: testQuotaFiles},
		{name: "quota-hidden", test: testQuotaHidden},
		{name: "quota-of-short-runs", test: testQuotaShort},
		{name: "quota-hidden-before", test: testQuotaHiddenBefore},
		{name: "quota-full-can-be-tidied", test: testQuotaTidy},
		{name: "quota-of-other-owners", test: testQuotaOwners},
		{name: "quota-sparse-files", test: testQuotaSparse},
	}
}

// pause goes on until it is ended from outside.
const pause = `; while :; do sleep 1; done`

func small() sandbox.Limits {
	return sandbox.Limits{WorkspaceBytes: 8 << 20, WorkspaceFiles: 100, Timeout: patience}
}

func testQuotaBytes(t *testing.T, f *fixture) {
	for _, filler := range some(f, []string{
		`i=0; while [ $i -lt 20 ]; do dd if=/dev/zero of=part$i bs=1M count=1; i=$((i+1)); done`,
		`dd if=/dev/zero of="$TMPDIR/hidden" bs=1M count=20`,
		`mkdir a && cd a && chmod 0 "$WORKSPACE" && dd if=/dev/zero of=deep bs=1M count=20`,
		`dd if=/dev/zero of=one bs=1M count=20`,
		`dd if=/dev/zero of="$HOME/hidden" bs=1M count=20`,
		`mkdir -p a/b && cd a/b && dd if=/dev/zero of=deep bs=1M count=20`,
	}) {
		expectStatus(t, f.run(t, sandbox.Spec{Shell: filler + pause, Limits: small()}), sandbox.QuotaExceeded)
	}
}

func testQuotaFiles(t *testing.T, f *fixture) {
	for _, filler := range []string{
		`i=0; while [ $i -lt 200 ]; do : > f$i; i=$((i+1)); done`,
		`i=0; while [ $i -lt 200 ]; do mkdir d$i; i=$((i+1)); done`,
		`i=0; while [ $i -lt 200 ]; do ln -s nowhere l$i; i=$((i+1)); done`,
	} {
		expectStatus(t, f.run(t, sandbox.Spec{Shell: filler + pause, Limits: small()}), sandbox.QuotaExceeded)
	}
}

// What cannot be looked into counts as too much.
func testQuotaHidden(t *testing.T, f *fixture) {
	deep := `i=0; while [ $i -lt 90 ]; do mkdir d && cd d; i=$((i+1)); done; dd if=/dev/zero of=hidden bs=1M count=20`
	expectStatus(t, f.run(t, sandbox.Spec{Shell: deep + pause, Limits: small()}), sandbox.QuotaExceeded)
	if os.Geteuid() == 0 {
		return // permissions do not keep root out
	}
	for _, mode := range []string{"0", "400"} { // the names alone can be read with the latter
		locked := `mkdir locked && dd if=/dev/zero of=locked/hidden bs=1M count=7 && chmod ` + mode + ` locked`
		workspace := t.TempDir()
		t.Cleanup(func() { os.Chmod(filepath.Join(workspace, "locked"), 0o700) })
		expectStatus(t, f.run(t, sandbox.Spec{Shell: locked + pause, Workspace: workspace, Limits: small()}), sandbox.QuotaExceeded)
	}
}

// A run that is over before it was measured is told of all the same, and the
// next one can write nothing.
func testQuotaShort(t *testing.T, f *fixture) {
	workspace := t.TempDir()
	fill := sandbox.Spec{Shell: `dd if=/dev/zero of="$(mktemp -p .)" bs=1M count=12`, Workspace: workspace, Limits: small()}
	expectStatus(t, f.run(t, fill), sandbox.QuotaExceeded)
	if result := f.run(t, fill); result.Status == sandbox.Exited && result.ExitCode == 0 {
		t.Error("a full workspace takes more")
	}
	var total int64
	files, err := filepath.Glob(filepath.Join(workspace, "tmp.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			total += info.Size()
		}
	}
	if total > 12<<20+100 {
		t.Errorf("the workspace holds %d bytes", total)
	}
}

// Where an earlier run has left something that cannot be looked into, nothing
// can be written there, nor anywhere else; it can be removed.
func testQuotaHiddenBefore(t *testing.T, f *fixture) {
	const down = `i=0; while [ $i -lt 70 ]; do mkdir -p d && cd d; i=$((i+1)); done; `
	workspace := t.TempDir()
	expectStatus(t, f.run(t, sandbox.Spec{Shell: down, Workspace: workspace, Limits: small()}), sandbox.QuotaExceeded)
	if result := f.run(t, sandbox.Spec{Shell: down + `dd if=/dev/zero of=hidden bs=1M count=20`, Workspace: workspace, Limits: small()}); result.Status == sandbox.Exited && result.ExitCode == 0 {
		t.Error("what cannot be looked into takes more")
	}
	hidden, err := os.Stat(filepath.Join(workspace, strings.Repeat("d/", 70), "hidden"))
	if err == nil && hidden.Size() > 1 {
		t.Errorf("%d bytes are hidden", hidden.Size())
	}
	f.succeed(t, sandbox.Spec{Shell: `rm -r d`, Workspace: workspace, Limits: small()})
	f.succeed(t, sandbox.Spec{Shell: `echo room again > small`, Workspace: workspace, Limits: small()})
}

func testQuotaTidy(t *testing.T, f *fixture) {
	workspace := t.TempDir()
	expectStatus(t, f.run(t, sandbox.Spec{Shell: `dd if=/dev/zero of=big bs=1M count=12` + pause, Workspace: workspace, Limits: small()}), sandbox.QuotaExceeded)
	f.succeed(t, sandbox.Spec{Shell: `wc -c < big && rm big`, Workspace: workspace, Limits: small()})
	f.succeed(t, sandbox.Spec{Shell: `echo room again > small`, Workspace: workspace, Limits: small()})

	filled := t.TempDir() // by somebody else, before any run
	if err := os.WriteFile(filepath.Join(filled, "big"), make([]byte, 12<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	f.succeed(t, sandbox.Spec{Shell: `wc -c < big`, Workspace: filled, Limits: small()})
}

// What the programs of others have in their HOMEs counts, and goes where it
// leaves no room.
func testQuotaOwners(t *testing.T, f *fixture) {
	shared := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir(), Limits: small()}
	hoard, add := shared, shared
	hoard.Owner, hoard.Shell = "hoarder", `dd if=/dev/zero of="$HOME/hoard" bs=1M count=7`
	add.Owner, add.Shell = "other", `dd if=/dev/zero of=added bs=1M count=2`
	expectExit(t, f.run(t, hoard), 0)
	expectStatus(t, f.run(t, add), sandbox.QuotaExceeded)
	f.succeed(t, add)
}

// A file with holes takes the space that it has, not its size.
func testQuotaSparse(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{Shell: `truncate -s 500M sparse && sleep 0.3`, Limits: small()})
	expectExit(t, result, 0)
}
