package sandboxtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// libraries are about [sandbox.Spec.Library].
func libraries() []contract {
	return []contract{
		{name: "library", test: testLibrary},
		{name: "library-read-only", test: testLibraryReadOnly},
		{name: "library-apart", test: testLibraryApart},
		{name: "library-links", test: testLibraryLinks},
		{name: "library-refused", test: testLibraryRefused},
	}
}

// library makes a directory of two skills as it is staged, of which the one calls
// the other.
func library(t *testing.T, says string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"caller/scripts/call.sh": "#!/bin/sh\nexec /mnt/skills/called/scripts/say.sh \"$@\"\n",
		"called/scripts/say.sh":  "#!/bin/sh\necho \"" + says + " $* in ${PWD##*/}\"\n",
		"called/data":            says,
	} {
		testfiles.WriteMode(t, filepath.Join(dir, filepath.FromSlash(name)), content, 0o555)
	}
	seal(t, dir)
	return dir
}

// seal takes the right to write from what is in a directory, until the end of the
// test.
func seal(t *testing.T, dir string) {
	t.Helper()
	chmod := func(mode fs.FileMode) error {
		return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			return os.Chmod(name, mode)
		})
	}
	if err := chmod(0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := chmod(0o755); err != nil {
			t.Error(err)
		}
	})
}

// shows skips a test, once it has shown that the backend refuses a library, where
// that cannot be shown.
func (f *fixture) shows(t *testing.T) {
	t.Helper()
	if f.backend.Info().Library != "" {
		return
	}
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: t.TempDir(), Library: library(t, "")})
	expectSetupError(t, err, "library-refused", "")
	t.Skip("this backend shows no library, and refuses it")
}

func testLibrary(t *testing.T, f *fixture) {
	f.shows(t)
	if at := f.backend.Info().Library; at != sandbox.LibraryDir {
		t.Errorf("the library is said to be at %q", at)
	}
	dir := library(t, "hello")
	workspace := filepath.Join(t.TempDir(), "w")
	testfiles.Write(t, filepath.Join(workspace, "file"), "")
	for _, c := range []struct {
		spec sandbox.Spec
		want string
	}{
		{
			sandbox.Spec{Shell: "/mnt/skills/caller/scripts/call.sh a 'b c' && sh /mnt/skills/called/scripts/say.sh by sh && ls /mnt/skills && cd /mnt/skills/called && ls && cat data && ./scripts/say.sh inside"},
			"hello a b c in workspace\nhello by sh in workspace\ncalled\ncaller\ndata\nscripts\nhellohello inside in called\n",
		},
		{sandbox.Spec{Argv: []string{"/mnt/skills/called/scripts/say.sh", "by path"}}, "hello by path in workspace\n"},
	} {
		c.spec.Library, c.spec.Workspace = dir, workspace
		if out := f.succeed(t, c.spec); out != c.want {
			t.Errorf("%s%q wrote %q, want %q", c.spec.Shell, c.spec.Argv, out, c.want)
		}
	}
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"/mnt/skills/called/gone"}, Workspace: workspace, Library: dir})
	expectSetupError(t, err, "program-missing", "gone")
}

func testLibraryReadOnly(t *testing.T, f *fixture) {
	f.shows(t)
	names := []string{"writable/lib/data", "writable/file", "called/data"}
	dir := testfiles.Dir(t, map[string]string{names[0]: "untouched", names[1]: "untouched", names[2]: "untouched"})
	for _, name := range append(names, "writable/lib", "writable", "called", ".") { // their modes are in nobody's way
		if err := os.Chmod(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out := f.succeed(t, sandbox.Spec{
		Library: dir, Env: map[string]string{"SHOWN": "/mnt/skills/writable", "FILE": "/mnt/skills/writable/file"},
		Shell: attemptsOnShown + `
try create-at-top over /mnt/skills/new
try create-beside over /mnt/new
try rename-top mv /mnt/skills /mnt/moved
try rename-skill mv /mnt/skills/called /mnt/skills/moved
try remount mount -o remount,rw /mnt/skills
try mount-over mount -t tmpfs none /mnt/skills
try unmount umount /mnt/skills
try unmount-apart unshare -rm umount /mnt/skills
for name in "" called called/data; do
	try "mode-of-$name" chmod 700 "/mnt/skills/$name"
	try "times-of-$name" touch -d 2000-01-01 "/mnt/skills/$name"
done
true`,
	})
	if out != "" {
		t.Errorf("programs can change the library: %q", strings.Fields(out))
	}
	for _, name := range names {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != "untouched" {
			t.Errorf("%s is %q afterwards, %v", name, got, err)
		}
	}
}

// A run sees its own library, and none that runs before it in the same workspace
// had, whatever was started ahead.
func testLibraryApart(t *testing.T, f *fixture) {
	f.shows(t)
	one, another := library(t, "one"), library(t, "another")
	spec := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir(), SkillDir: skill(t, nil), Shell: "cat /mnt/skills/called/data 2> /dev/null || ls -A /mnt/skills 2> /dev/null; true"}
	for _, c := range []struct{ library, want string }{{one, "one"}, {"", ""}, {another, "another"}, {one, "one"}} {
		spec.Library = c.library
		if out := f.succeed(t, spec); out != c.want {
			t.Errorf("with a library of %q, the program reads %q", c.want, out)
		}
	}
}

// Links lead where they lead inside of the sandbox.
func testLibraryLinks(t *testing.T, f *fixture) {
	f.shows(t)
	above := testfiles.Dir(t, map[string]string{"library/skill/file": "inside", "beside": "outside"})
	dir := filepath.Join(above, "library")
	for name, target := range map[string]string{"in": "file", "out": "../../beside", "absolute": filepath.Join(above, "beside")} {
		if err := os.Symlink(target, filepath.Join(dir, "skill", name)); err != nil {
			t.Fatal(err)
		}
	}
	out := f.succeed(t, sandbox.Spec{Library: dir, Shell: "cd /mnt/skills/skill; cat in out absolute ../../beside /proc/self/cwd/../../beside 2> /dev/null; true"})
	if out != "inside" {
		t.Errorf("the program reads %q", out)
	}
}

func testLibraryRefused(t *testing.T, f *fixture) {
	f.shows(t)
	dir := testfiles.Dir(t, map[string]string{"library/skill/file": "", "workspace/x": "", "private/x": "", "skill/x": ""})
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for library, rule := range map[string]string{
		"relative": "spec-invalid", in("gone"): "library-missing", in("library/skill/file"): "library-missing",
		dir: "spec-invalid", in("workspace"): "spec-invalid", in("skill"): "spec-invalid", in("private/x"): "library-missing",
	} {
		_, err := f.backend.Run(t.Context(), sandbox.Spec{
			Shell: "true", Library: library, SkillDir: in("skill"), Workspace: in("workspace"), Private: in("private"),
		})
		setup := expectSetupError(t, err, rule, "")
		if setup != nil && strings.Contains(setup.Message+setup.Hint, dir) {
			t.Errorf("the error for %q shows a host path: %s %s", library, setup.Message, setup.Hint)
		}
	}
	for _, at := range []string{"/mnt", "/mnt/skills", "/mnt/skills/called"} {
		_, err := f.backend.Run(t.Context(), sandbox.Spec{
			Shell: "true", Library: in("library"), Workspace: in("workspace"),
			Shares: []sandbox.Share{{Path: at, Layers: []string{in("skill")}, Access: sandbox.AccessRead}},
		})
		expectSetupError(t, err, "library-refused", "")
	}
}
