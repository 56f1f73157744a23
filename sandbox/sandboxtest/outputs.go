package sandboxtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// outputs are what a program writes.
func outputs() []contract {
	return []contract{
		{name: "output-whole", test: testOutputWhole},
		{name: "output-head-and-tail", test: testOutputCut},
		{name: "output-limit", test: testOutputLimit},
		{name: "output-limit-exact", test: testOutputLimitExact},
		{name: "output-of-helper-processes", test: testOutputOfHelpers},
		{name: "progress-lines", test: testProgress},
		{name: "progress-rate", test: testProgressRate},
	}
}

func testOutputWhole(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{Shell: `printf 'out\000\377'; printf 'err' >&2`})
	expectExit(t, result, 0)
	expectWhole(t, result.Stdout, "out\x00\xff")
	expectWhole(t, result.Stderr, "err")
	expectWhole(t, f.run(t, sandbox.Spec{Argv: []string{"true"}}).Stdout, "")
}

func expectWhole(t *testing.T, out sandbox.Output, want string) {
	t.Helper()
	if string(out.Data) != want || out.Head != len(want) || out.Total != int64(len(want)) || out.Spill != "" {
		t.Errorf("output is %q, head %d of %d, spill %q, want all of %q", out.Data, out.Head, out.Total, out.Spill, want)
	}
}

func testOutputCut(t *testing.T, f *fixture) {
	data := noise(2, 300_000)
	for _, keep := range []int{1, 2, 1001, 64 << 10} {
		private := t.TempDir()
		result := f.run(t, sandbox.Spec{
			Shell: "cat | tee /dev/stderr", Stdin: data, Private: private,
			Limits: sandbox.Limits{OutputBytes: int64(keep)},
		})
		expectExit(t, result, 0)
		expectCut(t, private, result.Stdout, data, keep)
		expectCut(t, private, result.Stderr, data, keep)
		if len(result.Artifacts) > 0 || result.ArtifactsOmitted > 0 {
			t.Errorf("the saved output counts as artifact: %v, %d omitted", result.Artifacts, result.ArtifactsOmitted)
		}
	}
}

// expectCut expects the head and the tail of data, and a file with all of it.
func expectCut(t *testing.T, private string, out sandbox.Output, data []byte, keep int) {
	t.Helper()
	half := keep / 2
	want := slices.Concat(data[:half], data[len(data)-(keep-half):])
	if !bytes.Equal(out.Data, want) || out.Head != half || out.Total != int64(len(data)) {
		t.Errorf("kept %d bytes, head %d, of %d; want the first %d and the last %d of %d",
			len(out.Data), out.Head, out.Total, half, keep-half, len(data))
	}
	saved, err := os.ReadFile(filepath.Join(private, sandbox.SavedDir, out.Spill))
	if err != nil || !bytes.Equal(saved, data) {
		t.Errorf("the saved output has %d bytes of %d, error %v", len(saved), len(data), err)
	}
}

func testOutputLimit(t *testing.T, f *fixture) {
	const limit = 1 << 20
	for name, program := range map[string]string{
		"stdout":         "yes",
		"stderr":         "yes >&2",
		"from the child": "trap '' PIPE TERM; setsid yes & wait; sleep 1000",
	} {
		private := t.TempDir()
		result := f.run(t, sandbox.Spec{
			Shell: program, Private: private,
			Limits: sandbox.Limits{OutputBytes: 1000, SpillBytes: limit},
		})
		expectStatus(t, result, sandbox.OutputLimit)
		out := result.Stdout
		if name == "stderr" {
			out = result.Stderr
		}
		if out.Total <= limit || len(out.Data) != 1000 {
			t.Errorf("%s: kept %d of %d bytes", name, len(out.Data), out.Total)
		}
		info, err := os.Stat(filepath.Join(private, sandbox.SavedDir, out.Spill))
		if err != nil || info.Size() != limit {
			t.Errorf("%s: the saved output is not cut at the limit: %v, %v", name, info, err)
		}
	}
}

func testOutputLimitExact(t *testing.T, f *fixture) {
	data := noise(3, 100_000)
	spec := sandbox.Spec{Argv: []string{"cat"}, Stdin: data, Limits: sandbox.Limits{OutputBytes: 100, SpillBytes: 100_000}}
	expectExit(t, f.run(t, spec), 0)
	spec.Limits.SpillBytes--
	expectStatus(t, f.run(t, spec), sandbox.OutputLimit)
}

// What a program leaves to a helper, as in "exec > >(tee log)", is not lost
// when the program ends a little earlier. How much earlier depends on how busy
// the machine is, so that one success will do.
func testOutputOfHelpers(t *testing.T, f *fixture) {
	out := ""
	for range 20 {
		out = f.succeed(t, sandbox.Spec{Shell: `(sleep 0.02; echo late) & echo early`})
		if out == "early\nlate\n" {
			return
		}
	}
	t.Errorf("the output is %q", out)
}

func testProgress(t *testing.T, f *fixture) {
	workspace := t.TempDir()
	var lines []string
	seen := sync.OnceFunc(func() {
		if err := os.WriteFile(filepath.Join(workspace, "seen"), nil, 0o644); err != nil {
			t.Error(err)
		}
	})
	f.succeed(t, sandbox.Spec{
		Workspace: workspace,
		Shell:     `printf 'first\nnot whole'; until [ -e seen ]; do sleep 0.01; done`,
		Progress: func(line string) { // unguarded: it comes from one goroutine and never after Run
			lines = append(lines, line)
			seen()
		},
	})
	if !slices.Equal(lines, []string{"first"}) {
		t.Errorf("reported %q", lines)
	}
}

func testProgressRate(t *testing.T, f *fixture) {
	var last time.Time
	calls := 0
	f.succeed(t, sandbox.Spec{
		Shell: `i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); sleep 0.02; done`,
		Progress: func(line string) {
			calls++
			if now := time.Now(); calls > 1 && now.Sub(last) < 240*time.Millisecond {
				t.Errorf("%q came %v after the line before", line, now.Sub(last))
			}
			last = time.Now()
		},
	})
	if calls < 2 {
		t.Errorf("%d lines were reported", calls)
	}
}
