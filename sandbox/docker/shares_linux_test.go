package docker_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

// What the kernel has left in the directory of changes only root can remove until
// an overlay is mounted there again.
func TestShares(t *testing.T) {
	sandboxtest.RunShares(t, func(t testing.TB) sandbox.Backend {
		backend := openWith(t, docker.Options{})
		if os.Geteuid() == 0 && !testenv.All(t) {
			backend.SetWarmMax(0)
			return backend
		}
		backend.SetWarmMax(3 * runtime.GOMAXPROCS(0)) // as many as there are tests at once, so that each is started
		return tidy{backend}
	}, sandboxtest.Shares{Most: sandbox.AccessReview, Brief: !testenv.All(t), Text: true})
}

// Where the engine mounts no overlays, as Podman's, copies are bound.
func TestSharesByCopies(t *testing.T) {
	testenv.Variant(t, "what is shared, by another way")
	sandboxtest.RunShares(t, func(t testing.TB) sandbox.Backend {
		backend := openWith(t, docker.Options{})
		backend.DoWithoutOverlays()
		return backend
	}, sandboxtest.Shares{Most: sandbox.AccessReview, Copies: true, Text: true})
}

// BenchmarkShares measures, in turns, whole runs that find a container started
// ahead: without project, with one of 50,000 files, and with one in which another
// run has changed a thousand.
func BenchmarkShares(b *testing.B) {
	backend := openWith(b, docker.Options{})
	defer backend.Close()
	specs := map[string]sandbox.Spec{"none-ms": {}, "large-ms": in(large(b), "", ""), "changed-ms": in(large(b), "", "")}
	for name, spec := range specs {
		spec.Shell, spec.Workspace = "true", b.TempDir()
		spec.Private = privateOf(b, spec.Workspace)
		first := spec
		if name == "changed-ms" {
			first.Shell = "for i in $(seq 1000); do echo x > 1/$i; done"
		}
		if result, err := backend.Run(b.Context(), first); err != nil || result.ExitCode != 0 {
			b.Fatalf("%+v, %v", result, err)
		}
		specs[name] = spec
	}
	total := make(map[string]time.Duration)
	for b.Loop() {
		for name, spec := range specs {
			backend.AwaitWarm()
			begun := time.Now()
			if result, err := backend.Run(b.Context(), spec); err != nil || result.ExitCode != 0 {
				b.Fatalf("%+v, %v", result, err)
			}
			total[name] += time.Since(begun)
		}
	}
	for name, time := range total {
		b.ReportMetric(float64(time.Microseconds())/1000/float64(b.N), name)
	}
}

// large makes a project of 50,000 files.
func large(b *testing.B) sandbox.Share {
	b.Helper()
	share := sandbox.Share{Path: filepath.Join(b.TempDir(), "project"), Access: sandbox.AccessReview, Changes: b.TempDir()}
	share.Layers = []string{share.Path}
	for dir := range 50 {
		at := filepath.Join(share.Path, strconv.Itoa(dir))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		for file := range 1000 {
			if err := os.WriteFile(filepath.Join(at, "file"+strconv.Itoa(file)), []byte("x"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return share
}

// Where the engine shares no directories, copies go to the container and back.
func TestSharesElsewhere(t *testing.T) {
	host := enginetest.ServeTCP(t, nil)
	sandboxtest.RunShares(t, func(t testing.TB) sandbox.Backend {
		backend := openWith(t, docker.Options{Host: host})
		backend.SetWarmMax(0)
		return backend
	}, sandboxtest.Shares{Most: sandbox.AccessReview, Copies: true, Sent: true, Brief: !testenv.All(t), Text: true})
}

// volumes lists those with a label, by the docker command.
func volumes(t *testing.T, label string) []string {
	t.Helper()
	out, err := exec.Command("docker", "volume", "ls", "--quiet", "--filter", "label="+label).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// project makes a directory of the user with one file and returns how it is
// shared for review.
func project(t *testing.T) sandbox.Share {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	testfiles.Fill(t, dir, map[string]string{"file": "first\n", "dir/below": "below\n"})
	return sandbox.Share{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: t.TempDir()}
}

// in returns a run of a shell program in a project.
func in(share sandbox.Share, workspace, shell string) sandbox.Spec {
	return sandbox.Spec{Shell: shell, Shares: []sandbox.Share{share}, Project: true, InProject: true, Workspace: workspace}
}

// see runs a program in a project and expects what it says.
func see(t *testing.T, backend sandbox.Backend, spec sandbox.Spec, want string) {
	t.Helper()
	result := run(t, backend, spec)
	if got := string(result.Stdout.Data); got != want || result.ExitCode != 0 {
		t.Errorf("%s: %q, want %q: %+v, %s", spec.Shell, got, want, result.Shared, result.Stderr.Data)
	}
}

// A container that was started ahead sees the project and its changes as they are
// when it is used, whoever changed them meanwhile.
func TestSharesAreSeenAsTheyAre(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	share, workspace := project(t), t.TempDir()
	see(t, backend, in(share, workspace, "cat file; echo changed > file; rm -r dir; mkdir dir; echo new > dir/new"), "first\n")
	backend.AwaitWarm()
	see(t, backend, in(share, workspace, "cat file dir/*"), "changed\nnew\n")
	backend.AwaitWarm()
	upper := filepath.Join(share.Changes, sandbox.UpperDir)
	if err := errors.Join(os.Remove(filepath.Join(upper, "file")), os.RemoveAll(filepath.Join(upper, "dir"))); err != nil {
		t.Fatal(err)
	}
	testfiles.Fill(t, share.Path, map[string]string{"file": "second\n", "dir/also": "also\n"})
	see(t, backend, in(share, workspace, "cat file dir/*"), "second\nalso\nbelow\n")
	backend.AwaitWarm()
	if err := errors.Join(os.RemoveAll(upper), os.RemoveAll(filepath.Join(share.Changes, "engine"))); err != nil {
		t.Fatal(err)
	}
	see(t, backend, in(share, workspace, "cat file; echo third > file"), "second\n")
	backend.AwaitWarm()
	if err := os.Rename(share.Path, share.Path+".old"); err != nil {
		t.Fatal(err)
	}
	testfiles.Fill(t, share.Path, map[string]string{"other": "other\n"})
	see(t, backend, in(share, workspace, "cat other file"), "other\nthird\n")
}

// Containers that are started ahead for several skills do not have the same
// changes at once.
func TestChangesAreMountedOnce(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	share, workspace := project(t), t.TempDir()
	skills := []string{t.TempDir(), t.TempDir()}
	want := ""
	for i := range 4 {
		spec := in(share, workspace, "echo x >> added; cat added; rm -f file dir/below")
		spec.SkillDir = skills[i%2]
		want += "x\n"
		see(t, backend, spec, want)
		backend.AwaitWarm()
		if mounted := volumes(t, backend.Session()); len(mounted) != 1 {
			t.Errorf("the volumes are %q", mounted)
		}
	}
}

// What the engine mounts for runs ends with them, and what the kernel makes for
// its own use can be removed by who is no root.
func TestSharesLeaveNothing(t *testing.T) {
	t.Parallel()
	backend := openWith(t, docker.Options{})
	share := project(t)
	run(t, backend, in(share, "", "rm file; echo more >> dir/below"))
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	if left := volumes(t, backend.Session()); len(left) > 0 {
		t.Errorf("there are the volumes %q", left)
	}
	left, err := os.ReadDir(share.Changes)
	if err != nil || len(left) != 2 || left[0].Name() != sandbox.UpperDir || left[1].Name() != sandbox.WorkDir {
		t.Errorf("with the changes are %v, %v", left, err)
	}
}

func TestNewRemovesVolumesOfDeadServers(t *testing.T) {
	backend := openUntilEnd(t)
	share, workspace := project(t), t.TempDir()
	run(t, backend, in(share, workspace, "true"))
	backend.AwaitWarm()
	mine := volumes(t, backend.Session())
	if len(mine) != 1 {
		t.Fatalf("the volumes are %q", mine)
	}
	out, err := exec.Command("docker", "volume", "inspect", "--format", `{{index .Labels "skills-mcp.host"}} {{index .Labels "skills-mcp.owner"}}`, mine[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	host, owner, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	test := "skills-mcp.test=" + backend.Session()
	for _, by := range []string{"gone/4194305/1", owner} {
		err := exec.Command("docker", "volume", "create", "--label", "skills-mcp.host="+host, "--label", "skills-mcp.owner="+by, "--label", test).Run()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, name := range volumes(t, test) {
			exec.Command("docker", "volume", "rm", name).Run()
		}
	})
	openWith(t, docker.Options{}).Close()
	if left := volumes(t, test); len(left) != 1 {
		t.Errorf("the volumes are %q", left)
	}
	see(t, backend, in(share, workspace, "cat file"), "first\n")
}

// A link that takes the place of a project once it was looked at leads nowhere.
func TestLinksInThePlaceOfProjects(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "a race for the place of a project")
	backend := openUntilEnd(t)
	secret := t.TempDir()
	testfiles.Fill(t, secret, map[string]string{"file": "secret\n"})
	share, workspace := project(t), t.TempDir()
	link := share.Path + ".link"
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, share.Path, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	})
	shown := 0
	for range 40 {
		spec := in(share, workspace, `cat "$PROJECT/file"`)
		spec.InProject, spec.Private = false, privateOf(t, workspace)
		result, err := backend.Run(t.Context(), spec)
		if err != nil {
			t.Error(err)
			break
		}
		if strings.Contains(string(result.Stdout.Data), "secret") {
			t.Error("a program reads what is behind a link")
		}
		if result.Shared[0].Access != sandbox.AccessOff {
			shown++
		}
	}
	close(stop)
	swapping.Wait()
	if shown == 0 {
		t.Error("the project was never shown")
	}
}

// What containers have of their own is not hidden by what is shared.
func TestSharesInTheWay(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	dir := t.TempDir()
	for _, paths := range [][]string{ // none below another
		{"/usr", "/etc", "/tmp", "/home", "/workspace", "/private/home", "/proc/1", "/dev/shm"},
		{"/usr/local/lib/skills-mcp", "/etc/x", "/workspace/x"},
	} {
		spec := sandbox.Spec{Shell: `echo "${PROJECT-none}"; pwd`, Project: true}
		for _, path := range paths {
			spec.Shares = append(spec.Shares, sandbox.Share{Path: path, Layers: []string{dir}, Access: sandbox.AccessRead})
		}
		result := run(t, backend, spec)
		if len(result.Shared) != len(paths) || string(result.Stdout.Data) != "none\n/workspace\n" {
			t.Errorf("shared are %+v, and a program says %q", result.Shared, result.Stdout.Data)
		}
		for i, got := range result.Shared {
			if got.Access != sandbox.AccessOff || got.Reason == "" {
				t.Errorf("%s is shared: %+v", paths[i], got)
			}
		}
	}
}
