package sandboxtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// shares are the directories of a user, such as the project.
func shares() []contract {
	return slices.Concat([]contract{
		{name: "share-read", test: testShareRead},
		{name: "share-read-changes-nothing", test: testShareReadOnly},
		{name: "share-environment", test: testShareEnvironment},
		{name: "share-several", test: testShareSeveral},
		{name: "share-programs", test: testSharePrograms},
		{name: "share-names", test: testShareNames},
		{name: "share-hidden", test: testShareHidden},
		{name: "share-replaced", test: testShareReplaced},
		{name: "share-review", review: true, test: testShareReview},
		{name: "share-review-format", review: true, test: testShareFormat},
		{name: "share-review-adds-up", review: true, test: testShareAddsUp},
		{name: "share-review-hidden-stays-hidden", review: true, test: testShareStaysHidden},
		{name: "share-review-at-once", review: true, test: testShareAtOnce},
	}, shareFaults(), shareAttacks(), git())
}

// sample is a project of a few files.
func sample() map[string]string {
	return map[string]string{
		"README.md": "read me\n", "src/main.c": "int main;\n", "src/lib/util.c": "int util;\n",
		"docs/a.txt": "a\n", "docs/b.txt": "b\n", "empty/": "",
	}
}

func testShareRead(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	out := p.succeed(t, f, sandbox.AccessRead, `cat README.md "$PROJECT/src/lib/util.c" && find . -type f | sort && pwd && echo "$PROJECT"`)
	lines := strings.Split(out, "\n")
	if want := "read me\nint util;\n./README.md\n./docs/a.txt\n./docs/b.txt\n./src/lib/util.c\n./src/main.c\n"; !strings.HasPrefix(out, want) {
		t.Errorf("it reads %q", out)
	}
	if at := lines[len(lines)-2]; at != lines[len(lines)-3] || !f.shares.Elsewhere && at != p.dir {
		t.Errorf("it is at %q, PROJECT says %q", lines[len(lines)-3], at)
	}
}

// changers are shell programs that change a sample.
var changers = []string{
	`echo changed > README.md`, `echo more >> README.md`, `: > new`, `mkdir new`, `ln -s / new`, `mkfifo new`,
	`rm README.md`, `rm -r src`, `rmdir empty`, `mv README.md new`, `mv src new`, `mv docs/a.txt docs/b.txt`,
	`chmod 700 README.md`, `chmod 700 src`, `touch -d 2001-01-01 README.md`, `ln README.md new`, `truncate -s 1 README.md`,
	`echo x > "$WORKSPACE/x" && mv "$WORKSPACE/x" src/main.c`, `dd if=/dev/zero of=README.md conv=notrunc count=1`,
}

func testShareReadOnly(t *testing.T, f *fixture) {
	changers, files := changers, sample()
	if f.shares.Brief {
		changers, files = together(changers, files)
	}
	p := newProject(t, files)
	look := `find . -printf '%p %y %m %s %T@\n' | sort; find . -type f -exec cat {} + | sort`
	if f.shares.Sent {
		look = strings.Replace(look, ".", `. -type d -printf '%p %m\n' -o`, 1)
	}
	before := p.succeed(t, f, sandbox.AccessRead, look)
	for _, shell := range changers {
		result := p.run(t, f, p.spec(sandbox.AccessRead, shell))
		succeeds := result.Status == sandbox.Exited && result.ExitCode == 0
		if f.shares.Brief {
			succeeds = strings.Contains(string(result.Stdout.Data), "did")
		}
		if succeeds && !f.shares.Discards {
			t.Errorf("%s succeeds: %s", shell, result.Stdout.Data)
		}
		if diff := cmp.Diff(before, p.succeed(t, f, sandbox.AccessRead, look)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", shell, diff)
		}
	}
	if held := p.held(t); len(held) > 0 {
		t.Errorf("held are %q", held)
	}
}

func testShareEnvironment(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: t.TempDir(), Env: map[string]string{"PROJECT": "/"}})
	expectSetupError(t, err, "env-reserved", "PROJECT")
	const where = `echo "${PROJECT-none}" && pwd && echo "$WORKSPACE"`
	unnamed := p.spec(sandbox.AccessRead, where)
	unnamed.Project, unnamed.InProject = false, false
	if lines := strings.Split(string(p.run(t, f, unnamed).Stdout.Data), "\n"); lines[0] != "none" || lines[1] != lines[2] {
		t.Errorf("without a project it sees %q", lines)
	}
	inWorkspace := p.spec(sandbox.AccessRead, where)
	inWorkspace.InProject = false
	if lines := strings.Split(string(p.run(t, f, inWorkspace).Stdout.Data), "\n"); lines[0] == "none" || lines[1] != lines[2] {
		t.Errorf("in the workspace it sees %q", lines)
	}
}

// The first of several shares is the project.
func testShareSeveral(t *testing.T, f *fixture) {
	p, other := newProject(t, sample()), newProject(t, map[string]string{"note": "of the other\n"})
	before := stateOf(t, other.dir)
	spec := p.spec(sandbox.AccessRead, `cat README.md`)
	if !f.shares.Elsewhere {
		spec.Shell += ` "$OTHER/note"`
	}
	spec.Env = map[string]string{"OTHER": other.dir}
	spec.Shares = append(spec.Shares, other.share(f.shares.Most))
	result := p.run(t, f, spec)
	expectExit(t, result, 0)
	if out := string(result.Stdout.Data); !f.shares.Elsewhere && out != "read me\nof the other\n" {
		t.Errorf("it reads %q", out)
	}
	before.expectSame(t, other.dir)
}

// Programs of the project can be started by their paths in it.
func testSharePrograms(t *testing.T, f *fixture) {
	p := newProject(t, map[string]string{"tools/hello": "#!/bin/sh\necho hello \"$@\"\n", "node_modules/.bin/": ""})
	if err := os.Chmod(filepath.Join(p.dir, "tools/hello"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../tools/hello", filepath.Join(p.dir, "node_modules/.bin/hello")); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"tools/hello", "./tools/hello", "node_modules/.bin/hello", "$PROJECT/tools/hello"} {
		spec := p.spec(sandbox.AccessRead, "")
		spec.Argv = []string{program, "you"}
		if strings.HasPrefix(program, "$") {
			spec.Shell, spec.Argv = program+` you`, nil
		}
		result := p.run(t, f, spec)
		expectExit(t, result, 0)
		if out := string(result.Stdout.Data); out != "hello you\n" {
			t.Errorf("%s says %q", program, out)
		}
	}
	missing := p.spec(sandbox.AccessRead, "")
	missing.Argv = []string{"./tools/none"}
	_, err := f.backend.Run(t.Context(), missing)
	expectSetupError(t, err, "program-missing", "tools/none")
}

// Names may have any bytes but NUL and a slash.
func testShareNames(t *testing.T, f *fixture) {
	for _, name := range some(f, []string{"a=b:c,d\\", "a\nb", "lowerdir=x", "a:b", "a,b", `a\b`, `a"b'c`, "a b", "ä\xff\xfe", "-rf"}) {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if f.shares.Text && !utf8.ValidString(name) {
				t.Skip("this backend shows nothing with such a path")
			}
			p := projectIn(t, filepath.Join(t.TempDir(), name, "in "+name))
			p.changes = filepath.Join(p.changes, name)
			if err := os.Mkdir(p.changes, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(p.dir, name), []byte("content"), 0o644); err != nil {
				t.Fatal(err)
			}
			out := p.succeed(t, f, f.shares.Most, `cat -- "$PROJECT"/*; pwd`)
			if !f.shares.Elsewhere && out != "content"+p.dir+"\n" {
				t.Errorf("it reads %q", out)
			}
			if f.shares.Most == sandbox.AccessReview {
				p.succeed(t, f, sandbox.AccessReview, `for file in *; do echo more >> "./$file"; done`)
				if diff := cmp.Diff(map[string]string{name: "file contentmore\n"}, p.held(t)); diff != "" {
					t.Errorf("held (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What a layer above the user's hides is not there.
func testShareHidden(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	p.hide(t, "README.md")
	p.hide(t, "src/lib")
	out := p.succeed(t, f, sandbox.AccessRead, `find . | sort; cat README.md src/lib/util.c; ls -a src`)
	if want := ".\n./docs\n./docs/a.txt\n./docs/b.txt\n./empty\n./src\n./src/main.c\n.\n..\nmain.c\n"; out != want {
		t.Errorf("it sees %q", out)
	}
}

func testShareReplaced(t *testing.T, f *fixture) {
	files := maps.Collect(maps.All(sample()))
	files[".git/config"] = "with a secret\n"
	p := newProject(t, files)
	p.replace(t, ".git/config", "without\n")
	if out := p.succeed(t, f, f.shares.Most, `cat .git/config`); out != "without\n" {
		t.Errorf("it reads %q", out)
	}
}

func testShareReview(t *testing.T, f *fixture) {
	if f.shares.Brief {
		shells, files := together(changers, sample())
		p := newProject(t, files)
		out := p.succeed(t, f, sandbox.AccessReview, shells[0])
		held := p.held(t)
		for i, shell := range changers {
			if !strings.Contains(out, fmt.Sprintf("did %d\n", i)) {
				t.Errorf("%s fails: %q", shell, out)
			}
			below := func(path string) bool { return strings.HasPrefix(path, itoa(i)+"/") }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(held)), below) && !strings.HasPrefix(shell, "mkfifo") {
				t.Errorf("%s: nothing is held", shell)
			}
		}
		return
	}
	for _, shell := range changers {
		p := newProject(t, sample())
		result := p.run(t, f, p.spec(sandbox.AccessReview, shell))
		if result.Status != sandbox.Exited || result.ExitCode != 0 {
			t.Errorf("%s ends as %s %d: %s", shell, result.Status, result.ExitCode, result.Stderr.Data)
		}
		if held := p.held(t); len(held) == 0 && !strings.HasPrefix(shell, "mkfifo") { // which is none of an artifact
			t.Errorf("%s: nothing is held", shell)
		}
		if len(result.Artifacts) > 1 { // one of them makes a file in the workspace
			t.Errorf("%s: artifacts are %+v", shell, result.Artifacts)
		}
	}
}

// together returns one shell program in the place of many, for backends whose
// programs take long to start: each is in a directory of its own with these files,
// which it takes for the project, and has its number said where it succeeds.
func together(shells []string, files map[string]string) (one []string, all map[string]string) {
	var program strings.Builder
	all = make(map[string]string)
	for i, shell := range shells {
		fmt.Fprintf(&program, "(cd %d && PROJECT=$PWD && {\n%s\n}) && echo did %d\n", i, shell, i)
		for name, content := range files {
			all[itoa(i)+"/"+name] = content
		}
	}
	program.WriteString(":\n")
	return []string{program.String()}, all
}

// formats are what is held after programs, by path, besides the directories above.
var formats = []struct {
	name, shell string
	want        map[string]string
}{
	{"added", `echo new > src/new`, map[string]string{"src/new": "file new\n"}},
	{"modified", `echo more >> src/main.c`, map[string]string{"src/main.c": "file int main;\nmore\n"}},
	{"deleted", `rm src/main.c`, map[string]string{"src/main.c": "whiteout"}},
	{"deleted directory", `rm -r src`, map[string]string{"src": "whiteout"}},
	{"added and deleted", `echo new > new && rm new`, map[string]string{}},
	{"directory", `mkdir -p new/deep && echo x > new/deep/x`, map[string]string{"new/deep/x": "file x\n"}},
	{"directory replaced", `rm -r docs && mkdir docs && echo c > docs/c`, map[string]string{"docs": "opaque", "docs/c": "file c\n"}},
	{"file replaced", `rm README.md && mkdir README.md`, map[string]string{"README.md": "opaque"}},
	{"directory by file", `rm -r docs && echo x > docs`, map[string]string{"docs": "file x\n"}},
	{"renamed", `mv README.md README`, map[string]string{"README.md": "whiteout", "README": "file read me\n"}},
	{"directory renamed", `mv docs papers`, map[string]string{"docs": "whiteout", "papers/a.txt": "file a\n", "papers/b.txt": "file b\n"}},
	{"link", `ln -s ../docs src/link`, map[string]string{"src/link": "link ../docs"}},
}

// What is held has the format of an overlay's upper directory, without
// redirections and metadata alone, whatever the backend. A directory in place of
// what is no directory need not be opaque, nor a new one, but may be.
func testShareFormat(t *testing.T, f *fixture) {
	for _, format := range some(f, formats) {
		t.Run(format.name, func(t *testing.T) {
			p := newProject(t, sample())
			p.succeed(t, f, sandbox.AccessReview, format.shell)
			held := p.held(t)
			for path, kind := range held {
				if _, named := format.want[path]; kind == "directory" || kind == "opaque" && !named {
					delete(held, path)
				}
			}
			if format.want["README.md"] == "opaque" && held["README.md"] == "" {
				held["README.md"] = "opaque"
			}
			want := format.want
			if want["docs"] == "opaque" && f.shares.Sent {
				want = map[string]string{"docs/a.txt": "whiteout", "docs/b.txt": "whiteout", "docs/c": "file c\n"}
			}
			if diff := cmp.Diff(want, held); diff != "" {
				t.Errorf("held (-want +got):\n%s", diff)
			}
		})
	}
	p := newProject(t, sample())
	p.succeed(t, f, sandbox.AccessReview, `chmod 751 README.md src`)
	for name, content := range map[string]string{"README.md": "file read me\n", "src": "directory"} {
		info, err := os.Stat(p.upper(name))
		if err != nil || info.Mode().Perm() != 0o751 || p.held(t)[name] != content {
			t.Errorf("%s is held as %v, %v, %q", name, info, err, p.held(t)[name])
		}
	}
}

// A run sees what those before it have changed, and what the user has changed
// since, but where a program has, too.
func testShareAddsUp(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	p.succeed(t, f, sandbox.AccessReview, `echo one > one && rm docs/a.txt && echo held >> README.md && mkdir -p deep/er`)
	p.succeed(t, f, sandbox.AccessReview, `cat one && test ! -e docs/a.txt && echo two > two && echo two >> deep/er/two`)
	for name, content := range map[string]string{"README.md": "of the user\n", "docs/b.txt": "of the user\n", "docs/new": "new\n"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.before = nil
	out := p.succeed(t, f, sandbox.AccessReview, `cat one two deep/er/two README.md docs/*`)
	if want := "one\ntwo\ntwo\nread me\nheld\nof the user\nnew\n"; out != want {
		t.Errorf("it reads %q, want %q", out, want)
	}
	if out := p.succeed(t, f, sandbox.AccessRead, `cat README.md`); out != "of the user\n" && out != "read me\nheld\n" {
		t.Errorf("who may read alone reads %q", out)
	}
}

// unhiders try to see what is hidden by changing what is around it.
var unhiders = []string{
	`mv keys moved`, `mv keys/sub keys/moved`, `cp -r keys copied`, `ln keys/secret linked`, `rm -r keys && mkdir keys`,
	`mkdir -p keys/secret`, `rm -r keys; mv docs keys`, `chmod 777 keys`, `mv . ../moved`, `echo x > keys/secret && rm keys/secret`,
	`ln -s keys/secret link && cat link`, `cat keys/../keys/secret /proc/self/cwd/keys/secret`, `mount -o remount,rw .`,
	`umount .; umount "$PROJECT"`, `unshare -rm sh -c 'umount "$PROJECT"; cat keys/secret'`, `mknod keys/x c 0 0; rm -f keys/secret`,
	`mv keys/other keys/secret && cat keys/secret`, `setfattr -n user.overlay.opaque -v x keys; setfattr -x user.overlay.opaque keys`,
	`setfattr -n user.overlay.redirect -v /keys docs; setfattr -n user.overlay.redirect -v ../keys docs`,
}

// What is hidden is not found again, whatever is done around it, then and later.
func testShareStaysHidden(t *testing.T, f *fixture) {
	const secret = "none of your business"
	files := map[string]string{
		"keys/secret": secret, "keys/sub/.env": secret, "keys/other": "other", "docs/a": "a", ".env": secret,
	}
	unhiders := unhiders
	if f.shares.Brief {
		unhiders, files = together(unhiders, files)
	}
	for _, shell := range unhiders {
		p := newProject(t, files)
		for name, content := range files {
			if content == secret {
				p.hide(t, name)
			}
		}
		const look = `; grep -r "none of your" . "$PROJECT" "$WORKSPACE" "$HOME"; find / -xdev -name secret -type f -exec cat {} + 2>&1; :`
		for _, program := range []string{shell + "\ntrue" + look, "true" + look} {
			if result := p.run(t, f, p.spec(sandbox.AccessReview, program)); strings.Contains(string(result.Stdout.Data), secret) {
				t.Errorf("%s: it reads %q", program, result.Stdout.Data)
			}
		}
		for path, content := range p.held(t) {
			if strings.Contains(content, secret) {
				t.Errorf("%s: %s is held as %q", shell, path, content)
			}
		}
	}
}

// Nothing is lost of what runs change that were started at once.
func testShareAtOnce(t *testing.T, f *fixture) {
	const runs = 6
	p := newProject(t, map[string]string{"count": "0\n"})
	before := stateOf(t, p.dir)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			spec := p.spec(sandbox.AccessReview, fmt.Sprintf(`echo %d > own%d && mkdir -p shared && echo x > shared/%d && rm -f gone`, i, i, i))
			if result := f.run(t, spec); result.Status != sandbox.Exited || result.ExitCode != 0 {
				t.Errorf("run %d ended as %s %d: %s", i, result.Status, result.ExitCode, result.Stderr.Data)
			}
		})
	}
	all.Wait()
	before.expectSame(t, p.dir)
	held := p.held(t)
	for i := range runs {
		if held[fmt.Sprintf("own%d", i)] == "" || held[fmt.Sprintf("shared/%d", i)] == "" {
			t.Errorf("what run %d made is lost: %q", i, held)
		}
	}
}
