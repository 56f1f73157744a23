package sandboxtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Timeouts that are meant to be reached, at once and after the program has had
// time enough to do something.
const (
	short  = 300 * time.Millisecond
	enough = 3 * time.Second
)

// kills are runs that do not end by themselves, and what they leave behind.
func kills() []contract {
	cases := []contract{
		{name: "timeout", test: testTimeout},
		{name: "left-behind", test: testLeftBehind},
		{name: "timeout-signals-ignored", test: testTimeoutIgnored},
		{name: "timeout-stopped", test: testTimeoutStopped},
		{name: "survivors-at-timeout", test: testTimeoutSurvivors},
		{name: "cancel-before-start", test: testCancelBefore},
		{name: "close", test: testClose},
	}
	for _, how := range detachments {
		cases = append(cases,
			contract{name: "survivors-at-exit-" + how.name, test: how.testExit},
			contract{name: "survivors-at-cancel-" + how.name, test: how.testCancel},
		)
	}
	return cases
}

// survivor is a program that holds on to a FIFO and to life.
const survivor = `trap '' HUP INT TERM
exec 9> "$WORKSPACE/fifo"
echo alive >&9
: > "$WORKSPACE/ready"
while :; do sleep 1000; done
`

// chain is a program that is another process at every moment.
const chain = `exec 9> "$WORKSPACE/fifo"
echo alive >&9
: > "$WORKSPACE/ready"
setsid sh "$SKILL_DIR/chain.sh" &
`

// detachment is a way for a process to get away from its parent. The programs
// go on only once the survivor is there.
type detachment struct{ name, program string }

var detachments = []detachment{
	{"background", `sh "$SKILL_DIR/survivor.sh" &`},
	{"background-quiet", `sh "$SKILL_DIR/survivor.sh" > /dev/null 2>&1 &`},
	{"grandchild", `sh -c 'sh "$SKILL_DIR/survivor.sh" & exit' &`},
	{"session", `setsid sh "$SKILL_DIR/survivor.sh" &`},
	{"daemon", `(setsid sh -c 'setsid sh "$SKILL_DIR/survivor.sh" > /dev/null 2>&1 &' &)`},
	{"daemon-without-environment", `(cd / && setsid env -i sh -c "WORKSPACE='$WORKSPACE'; . '$SKILL_DIR/survivor.sh'" > /dev/null 2>&1 &)`},
	{"chain", `sh "$SKILL_DIR/chain.sh"`},
}

const awaitSurvivor = "\n" + `until [ -e "$WORKSPACE/ready" ]; do sleep 0.01; done` + "\n"

func (d detachment) spec(t *testing.T) sandbox.Spec {
	t.Helper()
	return sandbox.Spec{
		SkillDir:  skill(t, map[string]string{"survivor.sh": survivor, "chain.sh": chain}),
		Workspace: t.TempDir(),
		Shell:     d.program + awaitSurvivor,
	}
}

func (d detachment) testExit(t *testing.T, f *fixture) {
	spec := d.spec(t)
	spec.Shell += "exit 5"
	watch := watchFIFO(t, spec.Workspace)
	expectExit(t, f.run(t, spec), 5)
	watch.expectDeath(t)
}

func (d detachment) testCancel(t *testing.T, f *fixture) {
	spec := d.spec(t)
	spec.Shell += "sleep 1000"
	watch := watchFIFO(t, spec.Workspace)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		awaitReady(spec.Workspace)
	}()
	expectStatus(t, f.runContext(ctx, t, spec), sandbox.Canceled)
	watch.expectDeath(t)
}

// awaitReady returns when a survivor is there, or is not to be expected.
func awaitReady(workspace string) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if _, err := os.Lstat(filepath.Join(workspace, "ready")); err == nil {
			return
		}
	}
}

func testTimeoutSurvivors(t *testing.T, f *fixture) {
	spec := detachments[len(detachments)-1].spec(t)
	spec.Shell += "sleep 1000"
	spec.Limits.Timeout = enough
	watch := watchFIFO(t, spec.Workspace)
	expectStatus(t, f.run(t, spec), sandbox.TimedOut)
	watch.expectDeath(t)
}

// What still runs when the program has ended is named, unless the run was killed.
func testLeftBehind(t *testing.T, f *fixture) {
	spec := sandbox.Spec{
		SkillDir: skill(t, map[string]string{"stay.sh": `: > "$1"; kill -STOP $$`}),
		Shell:    `sh "$SKILL_DIR/stay.sh" one & setsid sh "$SKILL_DIR/stay.sh" two & until [ -e one ] && [ -e two ]; do sleep 0.01; done; exit 3`,
	}
	result := f.run(t, spec)
	expectExit(t, result, 3)
	if !slices.Equal(result.LeftBehind, []string{"sh", "sh"}) || result.LeftBehindOmitted != 0 {
		t.Errorf("left behind are %q, and %d more", result.LeftBehind, result.LeftBehindOmitted)
	}
	spec.Shell = `i=0; while [ $i -lt 30 ]; do sh "$SKILL_DIR/stay.sh" $i & i=$((i+1)); done; until [ "$(ls | wc -l)" = 30 ]; do sleep 0.01; done`
	result = f.run(t, spec)
	if named := len(result.LeftBehind); result.Status != sandbox.Exited || named == 0 || named+result.LeftBehindOmitted != 30 {
		t.Errorf("of 30 left behind are %q, and %d more", result.LeftBehind, result.LeftBehindOmitted)
	}
	for shell, status := range map[string]sandbox.Status{"true": sandbox.Exited, "sleep 1000 & sleep 1000": sandbox.TimedOut} {
		result := f.run(t, sandbox.Spec{Shell: shell, Limits: sandbox.Limits{Timeout: enough}})
		if result.Status != status || len(result.LeftBehind) != 0 {
			t.Errorf("%q ended as %q and left behind %q", shell, result.Status, result.LeftBehind)
		}
	}
}

func testTimeout(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{
		Shell:  "echo before; echo x > made; sleep 1000",
		Limits: sandbox.Limits{Timeout: enough},
	})
	expectStatus(t, result, sandbox.TimedOut)
	if result.Duration < enough || result.Duration > patience {
		t.Errorf("the run took %v", result.Duration)
	}
	if string(result.Stdout.Data) != "before\n" || len(result.Artifacts) != 1 {
		t.Errorf("what came before the timeout is lost: stdout %q, artifacts %v", result.Stdout.Data, result.Artifacts)
	}
}

func testTimeoutIgnored(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{
		Shell:  "trap '' HUP INT QUIT TERM PIPE; while :; do sleep 1000; done",
		Limits: sandbox.Limits{Timeout: short},
	})
	expectStatus(t, result, sandbox.TimedOut)
}

func testTimeoutStopped(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{Shell: "kill -STOP $$", Limits: sandbox.Limits{Timeout: short}})
	expectStatus(t, result, sandbox.TimedOut)
}

func testCancelBefore(t *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expectStatus(t, f.runContext(ctx, t, sandbox.Spec{Shell: "sleep 1000"}), sandbox.Canceled)
}

func testClose(t *testing.T, f *fixture) {
	backend := f.openAnother(t)
	spec := detachments[0].spec(t)
	spec.Shell += "sleep 1000"
	watch := watchFIFO(t, spec.Workspace)
	ended := make(chan sandbox.Result, 1)
	go func() {
		result, err := backend.Run(t.Context(), spec)
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		ended <- result
	}()
	awaitReady(spec.Workspace)
	if err := backend.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	watch.expectDeath(t) // as soon as Close has returned
	expectStatus(t, <-ended, sandbox.Canceled)
	if _, err := backend.Run(t.Context(), spec); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("Run after Close gives %v, want ErrUnavailable", err)
	}
}
