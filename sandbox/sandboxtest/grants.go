package sandboxtest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// grants are what a run is given besides what all have.
func grants() []contract {
	return slices.Concat([]contract{
		{name: "grant-show", test: testShow},
		{name: "grant-show-read-only", test: testShowReadOnly},
		{name: "grant-show-attributes", test: testShowAttributes},
		{name: "grant-show-nothing-else", test: testShowNothingElse},
		{name: "grant-show-refused", test: testShowRefused},
		{name: "grant-path", test: testPath},
		{name: "grant-redact", test: testRedact},
		{name: "grant-redact-saved", test: testRedactSaved},
		{name: "grant-redact-limit", test: testRedactLimit},
	}, egresses())
}

// environment makes a directory with programs, as one of packages is.
func environment(t *testing.T) string {
	t.Helper()
	dir := testfiles.Dir(t, map[string]string{"lib/data": "of the environment"})
	for name, content := range map[string]string{
		"tool":              `echo "tool $*"`,
		"python3":           `echo "own python ${1##*/}"`,
		"grant-interpreter": `echo "interpreter ${1##*/}"`,
	} {
		testfiles.WriteMode(t, filepath.Join(dir, "bin", name), "#!/bin/sh\n"+content+"\n", 0o755)
	}
	if err := os.Symlink("tool", filepath.Join(dir, "bin", "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func testShow(t *testing.T, f *fixture) {
	dir := environment(t)
	file := filepath.Join(testfiles.Dir(t, map[string]string{"ä b/file": "a file"}), "ä b", "file")
	out := f.succeed(t, sandbox.Spec{
		Show:  []string{dir, file},
		Shell: `cat "$SHOWN/lib/data" && echo && cat "$FILE" && echo && "$SHOWN/bin/tool" a b && "$SHOWN/bin/link" c && ls "$SHOWN"`,
		Env:   map[string]string{"SHOWN": dir, "FILE": file},
	})
	if want := "of the environment\na file\ntool a b\ntool c\nbin\nlib\n"; out != want {
		t.Errorf("the program sees %q, want %q", out, want)
	}
}

// attemptsOnShown change what is shown, and say so where they can.
const attemptsOnShown = `
try() { what=$1; shift; ("$@") 2> /dev/null && echo "$what"; }
over() { echo x > "$1"; }
more() { echo x >> "$1"; }
try write over "$SHOWN/lib/data"
try append more "$SHOWN/lib/data"
try create over "$SHOWN/lib/new"
try write-file over "$FILE"
try remove rm -f "$SHOWN/lib/data"
try remove-directory rm -rf "$SHOWN/lib"
try rename mv "$SHOWN/lib/data" "$SHOWN/lib/moved"
try rename-all mv "$SHOWN" "$SHOWN.moved"
try make-directory mkdir "$SHOWN/new"
try link ln -s / "$SHOWN/new-link"
try hard-link ln "$SHOWN/lib/data" "$WORKSPACE/hard"
try write-by-proc over "/proc/self/root$SHOWN/lib/data"
ln -s "$SHOWN/lib/data" leads; try write-by-link over leads
cd "$SHOWN/lib" && try write-from-within over data
true`

func testShowReadOnly(t *testing.T, f *fixture) {
	dir := environment(t)
	file := filepath.Join(testfiles.Dir(t, map[string]string{"file": "a file"}), "file")
	out := f.succeed(t, sandbox.Spec{
		Show: []string{dir, file}, Shell: attemptsOnShown,
		Env: map[string]string{"SHOWN": dir, "FILE": file},
	})
	if out != "" {
		t.Errorf("programs can change what they are shown: %q", strings.Fields(out))
	}
	for name, want := range map[string]string{filepath.Join(dir, "lib", "data"): "of the environment", file: "a file"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is %q afterwards, %v", filepath.Base(name), got, err)
		}
	}
}

func testShowAttributes(t *testing.T, f *fixture) {
	dir := environment(t)
	out := f.succeed(t, sandbox.Spec{
		Show: []string{dir}, Env: map[string]string{"SHOWN": dir},
		Shell: `for name in lib/data lib ""; do
			chmod 700 "$SHOWN/$name" 2> /dev/null && echo "mode of $name"
			touch -d 2000-01-01 "$SHOWN/$name" 2> /dev/null && echo "times of $name"
		done; echo tried`,
	})
	if out != "tried\n" {
		t.Errorf("programs can change %q", out)
	}
}

// What is shown shows nothing of what is beside it or what it links to, and
// nothing to another run.
func testShowNothingElse(t *testing.T, f *fixture) {
	above := testfiles.Dir(t, map[string]string{"shown/file": "shown", "beside/file": "hidden"})
	dir := filepath.Join(above, "shown")
	if err := os.Symlink("../beside/file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	const program = `cat "$ABOVE/shown/file" "$ABOVE/shown/link" "$ABOVE/beside/file" "$ABOVE/shown/../beside/file" 2> /dev/null; true`
	for _, show := range [][]string{{dir}, nil, {dir}} {
		want := strings.Join(show, "")
		if want != "" {
			want = "shown"
		}
		spec := sandbox.Spec{Show: show, Shell: program, Env: map[string]string{"ABOVE": above}}
		if out := f.succeed(t, spec); out != want {
			t.Errorf("with %d directories shown, the program reads %q", len(show), out)
		}
	}
}

func testShowRefused(t *testing.T, f *fixture) {
	dir := testfiles.Dir(t, map[string]string{"a/b/file": "", "skill/x": "", "workspace/x": "", "private/x": ""})
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, link := range [][2]string{{"a", "link"}, {"a/b/file", "a/to-file"}} {
		if err := os.Symlink(in(link[0]), in(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		rule       string
		show, path []string
	}{
		{"spec-invalid", []string{"relative"}, nil},
		{"spec-invalid", []string{"/"}, nil},
		{"spec-invalid", []string{""}, nil},
		{"spec-invalid", []string{in("a") + "/"}, nil},
		{"spec-invalid", []string{in("a") + "/../a"}, nil},
		{"spec-invalid", []string{in("a") + "\x00"}, nil},
		{"spec-invalid", []string{in("a"), in("a/b")}, nil},
		{"spec-invalid", []string{in("a/b"), in("a")}, nil},
		{"spec-invalid", []string{in("a"), in("a")}, nil},
		{"spec-invalid", []string{dir}, nil},
		{"spec-invalid", []string{in("workspace/x")}, nil},
		{"spec-invalid", []string{in("private")}, nil},
		{"spec-invalid", []string{in("skill")}, nil},
		{"show-missing", []string{in("gone")}, nil},
		{"show-missing", []string{in("a/b/file/below")}, nil},
		{"show-missing", []string{in("link")}, nil},
		{"show-missing", []string{in("link/b")}, nil},
		{"show-missing", []string{in("a/to-file")}, nil},
		{"spec-invalid", nil, []string{"bin"}},
		{"spec-invalid", nil, []string{""}},
		{"spec-invalid", nil, []string{"/usr/../bin"}},
		{"spec-invalid", nil, []string{"/a" + string(os.PathListSeparator) + "/b"}},
	} {
		_, err := f.backend.Run(t.Context(), sandbox.Spec{
			Shell: "true", Show: c.show, Path: c.path,
			SkillDir: in("skill"), Workspace: in("workspace"), Private: in("private"),
		})
		setup := expectSetupError(t, err, c.rule, "")
		if setup != nil && strings.Contains(setup.Message+setup.Hint, dir) {
			t.Errorf("the error for %q shows a host path: %s %s", c.show, setup.Message, setup.Hint)
		}
	}
}

func testPath(t *testing.T, f *fixture) {
	dir := environment(t)
	own := skill(t, map[string]string{
		"run.py": "", "env": "#!/usr/bin/env grant-interpreter\n", "named": "#!/usr/bin/python3\n", "shell.sh": "tool by script\n",
	})
	for _, c := range []struct {
		spec sandbox.Spec
		want string
	}{
		{sandbox.Spec{Shell: `tool by shell; env tool "by env"; printf %s "${PATH%%:*}"`}, "tool by shell\ntool by env\n" + filepath.Join(dir, "bin")},
		{sandbox.Spec{Argv: []string{"tool", "by", "name"}}, "tool by name"},
		{sandbox.Spec{Argv: []string{"link", "followed"}}, "tool followed"},
		{sandbox.Spec{Argv: []string{filepath.Join(dir, "bin", "tool"), "by", "path"}}, "tool by path"},
		{sandbox.Spec{Script: "shell.sh"}, "tool by script"},
		{sandbox.Spec{Script: "run.py"}, "own python run.py"},
		{sandbox.Spec{Script: "env"}, "interpreter env"},
		{sandbox.Spec{Script: "named"}, "own python named"},
	} {
		c.spec.Show, c.spec.Path, c.spec.SkillDir = []string{dir}, []string{filepath.Join(dir, "bin")}, own
		if out := f.succeed(t, c.spec); strings.TrimSuffix(out, "\n") != c.want {
			t.Errorf("%s%s%q wrote %q, want %q", c.spec.Script, c.spec.Shell, c.spec.Argv, out, c.want)
		}
	}
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"tool"}, Workspace: t.TempDir()})
	expectSetupError(t, err, "program-missing", "tool")
}

// redactor replaces one word, also where it comes in parts.
type redactor struct {
	to       io.Writer
	from, by string
	held     []byte
}

const redacted = "SECRET"

// redactTo returns what Spec.Redact is, for one word.
func redactTo(by string) func(io.Writer) io.WriteCloser {
	return func(to io.Writer) io.WriteCloser { return &redactor{to: to, from: redacted, by: by} }
}

func (r *redactor) Write(p []byte) (int, error) {
	text := bytes.ReplaceAll(append(r.held, p...), []byte(r.from), []byte(r.by))
	keep := min(len(r.from)-1, len(text))
	for keep > 0 && !strings.HasPrefix(r.from, string(text[len(text)-keep:])) {
		keep--
	}
	r.held = slices.Clone(text[len(text)-keep:])
	if _, err := r.to.Write(text[:len(text)-keep]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (r *redactor) Close() error {
	_, err := r.to.Write(r.held)
	return err
}

// The word comes in parts, of which each was read before the next is written.
func testRedact(t *testing.T, f *fixture) {
	workspace := t.TempDir()
	var lines []string
	proceed := sync.OnceFunc(func() { testfiles.Write(t, filepath.Join(workspace, "seen"), "") })
	result := f.run(t, sandbox.Spec{
		Workspace: workspace,
		Redact:    redactTo("***"),
		Shell: `printf 'SECRET\na SEC'; until [ -e seen ]; do sleep 0.01; done; printf 'RET SECRET\nSECR'
			printf 'also SECRET' >&2`,
		Progress: func(line string) {
			lines = append(lines, line)
			proceed()
		},
	})
	expectExit(t, result, 0)
	expectWhole(t, result.Stdout, "***\na *** ***\nSECR")
	expectWhole(t, result.Stderr, "also ***")
	if len(lines) == 0 || lines[0] != "***" || strings.Contains(strings.Join(lines, ""), redacted) {
		t.Errorf("reported %q", lines)
	}
}

func testRedactSaved(t *testing.T, f *fixture) {
	private := t.TempDir()
	given := bytes.Repeat([]byte("a SECRET b\n"), 20_000)
	result := f.run(t, sandbox.Spec{
		Shell: "cat | tee /dev/stderr", Stdin: given, Private: private,
		Redact: redactTo("***"), Limits: sandbox.Limits{OutputBytes: 1001},
	})
	expectExit(t, result, 0)
	want := bytes.ReplaceAll(given, []byte(redacted), []byte("***"))
	expectCut(t, private, result.Stdout, want, 1001)
	expectCut(t, private, result.Stderr, want, 1001)
}

// What is removed counts: a program cannot write for ever what nobody sees. So
// does what comes in its place.
func testRedactLimit(t *testing.T, f *fixture) {
	for by, limit := range map[string]int64{"": 1 << 20, strings.Repeat("*", 100): 64 << 10} {
		result := f.run(t, sandbox.Spec{
			Shell:  "yes SECRET",
			Redact: redactTo(by),
			Limits: sandbox.Limits{OutputBytes: 1000, SpillBytes: limit},
		})
		expectStatus(t, result, sandbox.OutputLimit)
		if strings.Contains(string(result.Stdout.Data), redacted) {
			t.Errorf("the output has what is to be removed: %q", result.Stdout.Data)
		}
	}
}
