package sandboxtest

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// hogs are programs that want more of the machine than there is for them.
func hogs() []contract {
	return []contract{
		{name: "hog-memory", test: testHogMemory},
		{name: "hog-processes", test: testHogProcesses},
		{name: "hog-zombies", test: testHogZombies},
		{name: "hog-file-size", test: testHogFile},
	}
}

// A program that wants too much memory is killed for it, or is refused it and
// says so.
func testHogMemory(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{
		Shell:  `head -c 500000000 /dev/zero | tail -c 500000000 | wc -c`,
		Limits: sandbox.Limits{MemoryBytes: 64 << 20},
	})
	if result.Status != sandbox.OutOfMemory && string(result.Stdout.Data) == "500000000\n" {
		t.Errorf("it had 500 MB of 64 MiB: %+v", result)
	}
}

// Many processes in many generations die as one does.
func testHogProcesses(t *testing.T, f *fixture) {
	workspace := t.TempDir()
	watch := watchFIFO(t, workspace)
	result := f.run(t, sandbox.Spec{
		Shell: `exec 9> fifo
echo alive >&9
grow() {
	[ "$1" -eq 0 ] || { grow $(($1-1)) & grow $(($1-1)) & }
	sleep 1000
}
grow 8`,
		Workspace: workspace,
		Limits:    sandbox.Limits{Processes: 128, Timeout: enough},
	})
	if result.Status != sandbox.TimedOut && result.Status != sandbox.Exited {
		t.Errorf("ended as %q", result.Status)
	}
	watch.expectDeath(t)
	f.succeed(t, sandbox.Spec{Shell: "true"})
}

func testHogZombies(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{
		Shell:  `i=0; while [ $i -lt 100 ]; do : & i=$((i+1)); done; exec sleep 1000`,
		Limits: sandbox.Limits{Timeout: enough},
	})
	expectStatus(t, result, sandbox.TimedOut)
	f.succeed(t, sandbox.Spec{Shell: "true"})
}

// A file beyond its limit is refused to the program, or ends it.
func testHogFile(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{
		Shell:  `dd if=/dev/zero of=big bs=1M count=10; test "$(wc -c < big)" -le 1048576 && echo bounded; truncate -s 10M holes`,
		Limits: sandbox.Limits{FileBytes: 1 << 20},
	})
	if string(result.Stdout.Data) != "bounded\n" || result.ExitCode == 0 {
		t.Errorf("a file may be 10 MiB long: %+v", result)
	}
}
