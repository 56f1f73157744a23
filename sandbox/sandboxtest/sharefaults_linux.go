package sandboxtest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// shareFaults are projects that are not as they should be, and runs that end
// early.
func shareFaults() []contract {
	return []contract{
		{name: "share-invalid", test: testShareInvalid},
		{name: "share-missing", test: testShareMissing},
		{name: "share-special-files", test: testShareSpecial},
		{name: "share-links-out", test: testShareLinks},
		{name: "share-changing", test: testShareChanging},
		{name: "share-swapped", test: testShareSwapped},
		{name: "share-review-directories", review: true, test: testShareDirectories},
		{name: "share-review-quota", review: true, test: testShareQuota},
		{name: "share-review-full-can-be-tidied", review: true, test: testShareTidy},
		{name: "share-review-killed", review: true, test: testShareKilled},
	}
}

// What contradicts itself is refused, by whatever backend.
func testShareInvalid(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	for name, change := range map[string]func(*sandbox.Share){
		"relative":             func(s *sandbox.Share) { s.Path = "project" },
		"not clean":            func(s *sandbox.Share) { s.Path += "/../project" },
		"the root":             func(s *sandbox.Share) { s.Path = "/" },
		"without layers":       func(s *sandbox.Share) { s.Layers = nil },
		"a relative layer":     func(s *sandbox.Share) { s.Layers = []string{"project"} },
		"an unknown access":    func(s *sandbox.Share) { s.Access = "write" },
		"no access":            func(s *sandbox.Share) { s.Access = "" },
		"no changes":           func(s *sandbox.Share) { s.Access, s.Changes = sandbox.AccessReview, "" },
		"relative changes":     func(s *sandbox.Share) { s.Access, s.Changes = sandbox.AccessReview, "changes" },
		"NUL in the path":      func(s *sandbox.Share) { s.Path += "\x00" },
		"changes in the share": func(s *sandbox.Share) { s.Access, s.Changes = sandbox.AccessReview, p.dir+"/docs" },
	} {
		spec := p.spec(sandbox.AccessRead, `echo ran`)
		change(&spec.Shares[0])
		if _, err := f.backend.Run(t.Context(), spec); !isSetupError(err, "spec-invalid") {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := p.spec(sandbox.AccessRead, `echo ran`)
	inner := p.share(sandbox.AccessRead)
	inner.Path += "/docs"
	inner.Layers = []string{inner.Path}
	twice.Shares = append(twice.Shares, inner)
	if _, err := f.backend.Run(t.Context(), twice); !isSetupError(err, "spec-invalid") {
		t.Errorf("one below another: %v", err)
	}
}

func isSetupError(err error, rule string) bool {
	setup := new(sandbox.SetupError)
	return errors.As(err, &setup) && setup.Rule == rule
}

// A run that is to be in a project that is gone is not started elsewhere. One
// that is to be elsewhere goes on without it, and says so.
func testShareMissing(t *testing.T, f *fixture) {
	for name, remove := range map[string]func(p *project) error{
		"gone": func(p *project) error { return os.RemoveAll(p.dir) },
		"file": func(p *project) error { return errors.Join(os.RemoveAll(p.dir), os.WriteFile(p.dir, nil, 0o644)) },
		"link": func(p *project) error {
			return errors.Join(os.Rename(p.dir, p.dir+" elsewhere"), os.Symlink(p.dir+" elsewhere", p.dir))
		},
		"link above": func(p *project) error {
			above := filepath.Dir(p.dir)
			return errors.Join(os.Rename(above, above+" elsewhere"), os.Symlink(above+" elsewhere", above))
		},
	} {
		p := newProject(t, sample())
		if err := remove(p); err != nil {
			t.Fatal(err)
		}
		spec := p.spec(f.shares.Most, `echo "${PROJECT-none}"`)
		_, err := f.backend.Run(t.Context(), spec)
		expectSetupError(t, err, "project-missing", "project")
		spec.InProject = false
		result := f.run(t, spec)
		expectExit(t, result, 0)
		if out := string(result.Stdout.Data); out != "none\n" {
			t.Errorf("%s: it sees %q", name, out)
		}
		if len(result.Shared) != 1 || result.Shared[0].Access != sandbox.AccessOff || result.Shared[0].Path != "" ||
			result.Shared[0].Reason == "" || strings.Contains(result.Shared[0].Reason, p.dir) {
			t.Errorf("%s: shared are %+v", name, result.Shared)
		}
	}
}

// Special files neither hold up a run nor reach what is at their other ends.
func testShareSpecial(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	if err := unix.Mkfifo(filepath.Join(p.dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(p.dir, "socket")})
	if err != nil {
		t.Skip(err) // the path is too long for a socket
	}
	defer listener.Close()
	if os.Geteuid() == 0 {
		if err := unix.Mknod(filepath.Join(p.dir, "device"), unix.S_IFBLK|0o666, int(unix.Mkdev(1, 1))); err != nil {
			t.Fatal(err)
		}
	}
	fifo, err := unix.Open(filepath.Join(p.dir, "fifo"), unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fifo)
	const reach = `cat README.md; dd if=device count=1 2> /dev/null && echo read the device
		timeout 1 sh -c 'echo leaked > fifo' 2> /dev/null; ls > /dev/null`
	if out := p.succeed(t, f, f.shares.Most, reach); out != "read me\n" {
		t.Errorf("it says %q", out)
	}
	if n, err := unix.Read(fifo, make([]byte, 10)); n > 0 {
		t.Errorf("a FIFO of the user got %d bytes, %v", n, err)
	}
}

// Links that lead out of the project lead nowhere.
func testShareLinks(t *testing.T, f *fixture) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := newProject(t, sample())
	err := errors.Join(
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(p.dir, "file")),
		os.Symlink(outside, filepath.Join(p.dir, "directory")),
		os.Symlink("README.md", filepath.Join(p.dir, "inside")))
	if err != nil {
		t.Fatal(err)
	}
	before := stateOf(t, outside)
	out := p.succeed(t, f, f.shares.Most, `cat inside file directory/secret; echo x > file; echo x > directory/secret; : > directory/new; cat inside`)
	if out != "read me\nread me\n" {
		t.Errorf("it reads %q", out)
	}
	before.expectSame(t, outside)
}

// The user goes on working while a program does: each keeps what is its own.
func testShareChanging(t *testing.T, f *fixture) {
	p := newProject(t, map[string]string{"mine": "0", "theirs": "0", "dir/deep/file": "x"})
	spec := p.spec(f.shares.Most, `i=0; while [ $i -lt 200 ]; do cat mine dir/deep/file; echo $i > theirs; i=$((i+1)); done 2> /dev/null; echo over`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if result := f.run(t, spec); result.Status != sandbox.Exited || result.ExitCode != 0 {
			t.Errorf("ended as %s %d", result.Status, result.ExitCode)
		}
	}()
	mine, dir := filepath.Join(p.dir, "mine"), filepath.Join(p.dir, "dir")
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		err := errors.Join(os.WriteFile(mine+"~", []byte("of the user"), 0o600), os.Rename(mine+"~", mine),
			os.RemoveAll(dir), os.MkdirAll(filepath.Join(dir, "deep"), 0o755), os.WriteFile(filepath.Join(dir, "deep", "file"), nil, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"mine": "of the user", "theirs": "0"} {
		if content, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(content) != want {
			t.Errorf("%s holds %q, %v", name, content, err)
		}
	}
}

// A link that takes the place of a project, or of a directory above it, leads
// nowhere, whenever it comes: by the time that one is looked at it may be another.
func testShareSwapped(t *testing.T, f *fixture) {
	const secret = "of another directory"
	for name, pathOf := range map[string]func(p *project) string{
		"project": func(p *project) string { return p.dir },
		"above":   func(p *project) string { return filepath.Dir(p.dir) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, sample())
			other := t.TempDir()
			testfiles.Fill(t, other, map[string]string{"README.md": secret, "project/README.md": secret})
			link := pathOf(p) + " elsewhere"
			if err := os.Symlink(other, link); err != nil {
				t.Fatal(err)
			}
			before := stateOf(t, other)
			t.Cleanup(swap(pathOf(p), link))
			for range f.rounds(20) {
				spec := p.spec(f.shares.Most, `cat "$PROJECT/README.md"; echo changed > "$PROJECT/README.md"`)
				spec.InProject = false
				result, err := f.backend.Run(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				if out := string(result.Stdout.Data); strings.Contains(out, secret) {
					t.Fatalf("it reads %q; %+v", out, result.Shared)
				}
			}
			before.expectSame(t, other)
		})
	}
}

// swap exchanges two names as fast as it can, until it is stopped.
func swap(a, b string) (stop func()) {
	ended := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
			}
		}
	})
	return func() {
		close(ended)
		swapping.Wait()
	}
}

// A directory that may not be written stays so, and modes that a program takes
// away from itself do not keep later runs out.
func testShareDirectories(t *testing.T, f *fixture) {
	p := newProject(t, map[string]string{"locked/file": "x", "docs/a": "a"})
	locked := filepath.Join(p.dir, "locked")
	if err := os.Chmod(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(locked, 0o755) })
	p.succeed(t, f, sandbox.AccessReview, `! : > locked/new && echo more >> locked/file && chmod 755 locked && : > locked/new`)
	p.succeed(t, f, sandbox.AccessReview, `chmod 0 "$PROJECT"`)
	if out := p.succeed(t, f, sandbox.AccessReview, `cat docs/a`); out != "a" {
		t.Errorf("it reads %q", out)
	}
}

// What is held counts as what is in the workspace does: of a copy once the run is
// over, where it is less than what was there.
func testShareQuota(t *testing.T, f *fixture) {
	const whiteouts = `i=0; while [ $i -lt 200 ]; do rm many/$i; i=$((i+1)); done`
	for _, filler := range []string{
		`dd if=/dev/zero of=one bs=1M count=20`,
		`mkdir -p a/b && cd a/b && dd if=/dev/zero of=deep bs=1M count=20`,
		`i=0; while [ $i -lt 200 ]; do : > f$i; i=$((i+1)); done`,
		whiteouts,
		`dd if=/dev/zero of=one bs=1M count=5; dd if=/dev/zero of="$WORKSPACE/two" bs=1M count=5`,
	} {
		p := newProject(t, sample())
		many := filepath.Join(p.dir, "many")
		if err := os.Mkdir(many, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			if err := os.WriteFile(filepath.Join(many, itoa(i)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		spec := p.spec(sandbox.AccessReview, filler+pause)
		if filler == whiteouts && (f.shares.Elsewhere || f.shares.Copies) {
			spec.Shell = filler
		}
		spec.Limits = small()
		expectStatus(t, p.run(t, f, spec), sandbox.QuotaExceeded)
	}
}

func testShareTidy(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	limited := func(shell string) sandbox.Spec {
		spec := p.spec(sandbox.AccessReview, shell)
		spec.Limits = small()
		return spec
	}
	expectStatus(t, p.run(t, f, limited(`dd if=/dev/zero of=big bs=1M count=12`+pause)), sandbox.QuotaExceeded)
	if result := p.run(t, f, limited(`dd if=/dev/zero of=more bs=1M count=12`)); result.Status == sandbox.Exited && result.ExitCode == 0 {
		t.Error("what is full takes more")
	}
	expectExit(t, p.run(t, f, limited(`rm -f big more`)), 0)
	expectExit(t, p.run(t, f, limited(`echo room again > small`)), 0)
}

// A run that is killed while it changes much leaves what the next one can use.
func testShareKilled(t *testing.T, f *fixture) {
	p := newProject(t, sample())
	const busy = `exec 3>> README.md; (while :; do rm -rf docs; mkdir docs; cp -r src docs/; mv docs/src docs/s; done) &
		while :; do echo more >&3; echo more > src/main.c; done`
	for _, kill := range []string{"timeout", "cancel"} {
		spec := p.spec(sandbox.AccessReview, busy)
		ctx, cancel := context.WithCancel(t.Context())
		if kill == "timeout" {
			spec.Limits.Timeout = 500 * time.Millisecond
			expectStatus(t, p.runContext(ctx, t, f, spec), sandbox.TimedOut)
		} else {
			spec.Shell = `echo started; ` + busy
			spec.Progress = func(string) { cancel() }
			expectStatus(t, p.runContext(ctx, t, f, spec), sandbox.Canceled)
		}
		cancel()
		p.succeed(t, f, sandbox.AccessReview, `grep -q "read me" README.md && rm -rf docs && mkdir docs && cp -r src docs/ && cat src/lib/util.c`)
	}
}
