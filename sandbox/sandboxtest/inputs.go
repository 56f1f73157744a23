package sandboxtest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// inputs are what a program is given.
func inputs() []contract {
	return []contract{
		{name: "stdin-given", test: testStdinGiven},
		{name: "stdin-empty", test: testStdinEmpty},
		{name: "stdin-unread", test: testStdinUnread},
		{name: "environment-clean", test: testEnvironment},
		{name: "environment-added", test: testEnvironmentAdded},
		{name: "environment-reserved", test: testEnvironmentReserved},
		{name: "descriptors-clean", test: testDescriptors, alone: true},
		{name: "signals-default", test: testSignalsDefault, alone: true},
		{name: "working-directory", test: testWorkingDirectory},
		{name: "directories-visible", test: testDirectories},
		{name: "arguments", test: testArguments},
		{name: "shell-long", test: testShellLong},
	}
}

// noise returns n bytes of every value, the same for a seed.
func noise(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

func testStdinGiven(t *testing.T, f *fixture) {
	for _, size := range []int{0, 1, 100_000, 1 << 20} {
		data := noise(1, size)
		result := f.run(t, sandbox.Spec{
			Argv:   []string{"cat"},
			Stdin:  data,
			Limits: sandbox.Limits{OutputBytes: 2 << 20},
		})
		expectExit(t, result, 0)
		if !bytes.Equal(result.Stdout.Data, data) {
			t.Errorf("%d bytes of input came back as %d other bytes", size, len(result.Stdout.Data))
		}
	}
}

func testStdinEmpty(t *testing.T, f *fixture) {
	if out := f.succeed(t, sandbox.Spec{Shell: "cat; echo end"}); out != "end\n" {
		t.Errorf("the program read %q", out)
	}
}

func testStdinUnread(t *testing.T, f *fixture) {
	f.succeed(t, sandbox.Spec{Shell: "exit 0", Stdin: make([]byte, 4<<20)})
}

// environ runs env and returns what it lists.
func environ(t *testing.T, f *fixture, spec sandbox.Spec) map[string]string {
	t.Helper()
	spec.Argv = []string{"env", "-0"}
	if runtime.GOOS != "linux" {
		spec.Argv = []string{"env"}
	}
	separator := "\x00"
	if len(spec.Argv) == 1 {
		separator = "\n"
	}
	env := make(map[string]string)
	for line := range strings.SplitSeq(strings.TrimSuffix(f.succeed(t, spec), separator), separator) {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	return env
}

func testEnvironment(t *testing.T, f *fixture) {
	allowed := []string{"HOME", "LANG", "LC_ALL", "PATH", "PYTHONNOUSERSITE", "PYTHONPATH", "PYTHONUNBUFFERED", "SKILL_DIR", "TMPDIR", "TZ", "WORKSPACE"}
	others := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(allowed, name)
	})
	if len(others) == 0 {
		t.Fatal("the environment of this test has nothing that could leak")
	}
	env := environ(t, f, sandbox.Spec{})
	// Where there are packages, and where the system's own file cannot be read.
	rare := []string{"NODE_PATH", "GIT_CONFIG_NOSYSTEM"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !slices.Contains(allowed, name) && !slices.Contains(rare, name) {
			t.Errorf("the environment has %s=%q", name, env[name])
		}
	}
	for _, name := range allowed {
		if env[name] == "" && name != "TZ" {
			t.Errorf("the environment has no %s", name)
		}
	}
	for _, name := range []string{"HOME", "TMPDIR"} {
		if strings.HasPrefix(env[name], env["WORKSPACE"]+"/") {
			t.Errorf("%s=%q is in the workspace %q, which others write", name, env[name], env["WORKSPACE"])
		}
	}
	for _, name := range []string{"LANG", "LC_ALL"} {
		if env[name] != "C.UTF-8" {
			t.Errorf("%s=%q", name, env[name])
		}
	}
}

func testEnvironmentAdded(t *testing.T, f *fixture) {
	added := map[string]string{"TOKEN": "a b=c", "EMPTY": "", "UNICODE": "größe ☃", "LANG": "C"}
	env := environ(t, f, sandbox.Spec{Env: added})
	for name, value := range added {
		if got, ok := env[name]; !ok || got != value {
			t.Errorf("%s=%q, want %q", name, got, value)
		}
	}
}

func testEnvironmentReserved(t *testing.T, f *fixture) {
	for _, name := range []string{"HOME", "PATH", "SKILL_DIR", "TMPDIR", "WORKSPACE"} {
		_, err := f.backend.Run(t.Context(), sandbox.Spec{
			Shell: "true", Workspace: t.TempDir(), Env: map[string]string{name: "/"},
		})
		expectSetupError(t, err, "env-reserved", name)
	}
	for _, name := range []string{"", "A=B", "A\x00B"} {
		_, err := f.backend.Run(t.Context(), sandbox.Spec{
			Shell: "true", Workspace: t.TempDir(), Env: map[string]string{name: "x"},
		})
		expectSetupError(t, err, "env-invalid", "")
	}
}

// A descriptor that the server itself has inherited has no close-on-exec
// flag, unlike all that Go opens.
func testDescriptors(t *testing.T, f *fixture) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to list descriptors")
	}
	fd, err := syscall.Open(os.Args[0], syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	out := f.succeed(t, sandbox.Spec{Argv: []string{"ls", "/proc/self/fd"}})
	if got := strings.Fields(out); !slices.Equal(got, []string{"0", "1", "2", "3"}) { // 3 is what ls reads
		t.Errorf("the program has descriptors %v", got)
	}
}

func testWorkingDirectory(t *testing.T, f *fixture) {
	f.succeed(t, sandbox.Spec{Shell: `[ "$(pwd -P)" = "$(cd "$WORKSPACE" && pwd -P)" ]`})
	f.succeed(t, sandbox.Spec{Shell: `[ "$(pwd -P)" = "$(cd "$SKILL_DIR" && pwd -P)" ]`, InSkill: true})
}

func testDirectories(t *testing.T, f *fixture) {
	spec := sandbox.Spec{
		SkillDir:  skill(t, map[string]string{"references/für dich.txt": "from the skill"}),
		Workspace: t.TempDir(),
		Shell: `cat "$SKILL_DIR/references/für dich.txt" && echo kept > "$WORKSPACE/note" &&
			echo t > "$TMPDIR/t" && echo h > "$HOME/h"`,
	}
	if out := f.succeed(t, spec); out != "from the skill" {
		t.Errorf("the skill's file reads %q", out)
	}
	spec.Shell = `cat note`
	if out := f.succeed(t, spec); out != "kept\n" {
		t.Errorf("the workspace's file reads %q in the next run", out)
	}
}

func testArguments(t *testing.T, f *fixture) {
	args := []string{"", "a b", "two\nlines", "größe ☃", `"quoted" 'twice' \`, "$HOME", "`id`", "*", "-n", "--", "\xff\xfe", strings.Repeat("long ", 10_000)}
	dir := skill(t, map[string]string{"scripts/args.sh": "#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done\n"})
	result := f.run(t, sandbox.Spec{
		SkillDir: dir, Script: "scripts/args.sh", Args: args,
		Limits: sandbox.Limits{OutputBytes: 1 << 20},
	})
	expectExit(t, result, 0)
	got := strings.Split(strings.TrimSuffix(string(result.Stdout.Data), "\x00"), "\x00")
	if !slices.Equal(got, args) {
		t.Errorf("the script got %q, want %q", got, args)
	}
}

// testShellLong: a command may have 1 MiB, as one with a here-document has, and runs
// as a short one does.
func testShellLong(t *testing.T, f *fixture) {
	const rest = `
echo "$# ${0##*/} $(wc -c < long | tr -d ' ') $(set -- a:b; IFS=:; echo $1)"
for word in $(printf 'one two\tthree\nfour'); do printf '<%s>' "$word"; done; printf '%s\n' "$IFS" | od -An -c | tr -s ' '; exit 7`
	run := func(text string) (string, sandbox.Result) {
		result := f.run(t, sandbox.Spec{Shell: "cat > long <<'EOF'\n" + text + "EOF\ncat long >&2\n" + rest, Limits: sandbox.Limits{OutputBytes: 4 << 20}})
		expectExit(t, result, 7)
		if string(result.Stderr.Data) != text {
			t.Errorf("a here-document of %d bytes came as %d others", len(text), len(result.Stderr.Data))
		}
		return string(result.Stdout.Data), result
	}
	long := strings.Repeat("$HOME `größe` 'a' \"b\" \\n 日本語\n", 30_000)[:1<<20-1000]
	long = strings.ToValidUTF8(long, "") + "\n"
	short, _ := run("x\n")
	got, _ := run(long)
	if want := strings.Replace(short, " 2 ", fmt.Sprintf(" %d ", len(long)), 1); got != want {
		t.Errorf("a long command says %q, a short one %q", got, want)
	}
}
