package docker_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
)

// These make this test program a server, with a workspace, that runs a program
// which does not end, one short program after the other, or only one.
const (
	serverVariable      = "SKILLS_MCP_TEST_SERVER"
	busyServerVariable  = "SKILLS_MCP_TEST_BUSY_SERVER"
	briefServerVariable = "SKILLS_MCP_TEST_BRIEF_SERVER"
)

func TestMain(m *testing.M) {
	for variable, serve := range map[string]func(string) error{
		serverVariable: serve, busyServerVariable: serveBusily, briefServerVariable: serveBriefly,
	} {
		if workspace := os.Getenv(variable); workspace != "" {
			if err := serve(workspace); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	// Containers are waited for more than they keep processors busy.
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		parallel.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if !endTogether() && code == 0 {
		code = 1
	}
	os.Exit(code)
}

func serveBusily(workspace string) error {
	backend, err := docker.New(context.Background(), docker.Options{Remote: remote.Access{}})
	if err != nil {
		return err
	}
	for {
		spec := in(shareIn(workspace), workspace, "rm -f gone; echo more >> file; setsid sleep 1000 & [ $((RANDOM % 2)) = 0 ] || sleep 1000")
		spec.Private, spec.Limits.Timeout = workspace+".private", 300*time.Millisecond
		if _, err := backend.Run(context.Background(), spec); err != nil {
			return err
		}
	}
}

// shareIn is the project of a busy server, beside its workspace.
func shareIn(workspace string) sandbox.Share {
	dir := workspace + ".project"
	return sandbox.Share{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: workspace + ".changes"}
}

func serveBriefly(workspace string) error {
	backend, err := docker.New(context.Background(), docker.Options{Remote: remote.Access{}})
	if err != nil {
		return err
	}
	defer backend.Close()
	result, err := backend.Run(context.Background(), sandbox.Spec{Shell: "echo ran > ran; [ ! -e big ] || echo >> big", Workspace: workspace})
	if err != nil || result.ExitCode != 0 || result.ChangesLost {
		return fmt.Errorf("%+v, %w", result, err)
	}
	fmt.Println(backend.Info().Notice)
	return nil
}

func serve(workspace string) error {
	ctx := context.Background()
	backend, err := docker.New(ctx, docker.Options{Remote: remote.Access{}})
	if err != nil {
		return err
	}
	private := workspace + ".private"
	if err := os.MkdirAll(private, 0o700); err != nil {
		return err
	}
	// Several at once, so that there are several warm containers too.
	var burst errgroup.Group
	for range 3 {
		burst.Go(func() error {
			_, err := backend.Run(ctx, sandbox.Spec{Shell: "sleep 0.3", Workspace: workspace, Private: private})
			return err
		})
	}
	if err := burst.Wait(); err != nil {
		return err
	}
	backend.AwaitWarm()
	waiting := backend.Waiting()
	_, err = backend.Run(ctx, sandbox.Spec{
		Shell:     "trap '' HUP INT TERM; setsid sleep 1000 & echo running; wait; sleep 1000",
		Stdin:     make([]byte, 1<<20), // never read
		Workspace: workspace, Private: private,
		Progress: func(string) {
			for backend.Waiting() < waiting { // until another is to take the place of this one
				time.Sleep(time.Millisecond)
			}
			backend.AwaitWarm()
			fmt.Println(backend.Session())
		},
	})
	return err
}

// containers lists those with a label, by the docker command.
func containers(t *testing.T, label string) []string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "--all", "--no-trunc", "--quiet", "--filter", "label="+label).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

func expectGone(t *testing.T, label string, within time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left := containers(t, label)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v there still are the containers %v", within, left)
		}
	}
}

// Nothing but the engine sees a server that was killed. The test is not
// parallel: any other server that starts would remove what is left.
func TestNothingOutlivesAKilledServer(t *testing.T) {
	shared(t) // skips where there is no engine
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serverVariable+"="+t.TempDir())
	server.Stderr = os.Stderr
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	label, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not come up: %v, %v", err, server.Wait())
	}
	label = strings.TrimSpace(label)
	if n := len(containers(t, label)); n == 0 {
		t.Error("the server has no containers")
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	server.Wait()
	expectGone(t, label, 5*time.Second)
}

// Whenever a server is killed, nothing of it runs soon after, and the next one
// to start removes even a container that was created and never started. The
// test is not parallel for the same reason.
func TestServersAreKilledAtAnyMoment(t *testing.T) {
	shared(t) // skips where there is no engine
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	const servers = 5
	for range testenv.Rounds(t, 2, 10) {
		var pids []int
		var workspaces []string
		var killed sync.WaitGroup
		for range servers {
			workspace := filepath.Join(t.TempDir(), "workspace")
			testfiles.Fill(t, workspace+".project", map[string]string{"file": "of the user\n", "gone": "of the user\n"})
			for _, name := range []string{workspace, workspace + ".private", workspace + ".changes"} {
				if err := os.Mkdir(name, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			workspaces = append(workspaces, workspace)
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), busyServerVariable+"="+workspace)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, server.Process.Pid)
			moment := rand.N(1500 * time.Millisecond)
			killed.Go(func() {
				time.Sleep(moment)
				server.Process.Kill()
				server.Wait()
			})
		}
		killed.Wait()
		deadline := time.Now().Add(5 * time.Second)
		for left := ownedBy(t, pids, "running"); len(left) > 0; left = ownedBy(t, pids, "running") {
			if time.Now().After(deadline) {
				t.Fatalf("after 5 s there still run %v", left)
			}
			time.Sleep(20 * time.Millisecond)
		}
		next := openWith(t, docker.Options{})
		if left := append(ownedBy(t, pids, ""), volumesOf(t, pids)...); len(left) > 0 {
			t.Errorf("the next server leaves %v", left)
		}
		for _, workspace := range workspaces {
			see(t, next, in(shareIn(workspace), workspace, `grep -q "of the user" file && rm file && echo next > file && cat file; echo y > gone`), "next\n")
			for _, name := range []string{"file", "gone"} {
				if content, err := os.ReadFile(filepath.Join(workspace+".project", name)); string(content) != "of the user\n" {
					t.Errorf("%s of the user holds %q, %v", name, content, err)
				}
			}
		}
		next.Close()
		if left, err := filepath.Glob(filepath.Join(temporary, "skills-mcp-docker-probe-*")); err != nil || len(left) > 0 {
			t.Fatalf("the next server leaves %v, %v", left, err)
		}
	}
}

// volumesOf lists the volumes of servers with these pids.
func volumesOf(t *testing.T, pids []int) (names []string) {
	t.Helper()
	out, err := exec.Command("docker", "volume", "ls", "--filter", "label=skills-mcp.owner", "--format", `{{.Name}} {{.Label "skills-mcp.owner"}}`).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		for _, pid := range pids {
			if strings.Contains(line, fmt.Sprintf("/%d/", pid)) {
				names = append(names, line)
			}
		}
	}
	return names
}

// ownedBy lists the containers of servers with these pids, in one state or in
// any.
func ownedBy(t *testing.T, pids []int, state string) (ids []string) {
	t.Helper()
	out, err := exec.Command("docker", "ps", "--all", "--format", `{{.ID}} {{.State}} {{.Label "skills-mcp.owner"}}`).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || (state != "" && fields[1] != state) {
			continue
		}
		for _, pid := range pids {
			if strings.Contains(fields[2], fmt.Sprintf("/%d/", pid)) {
				ids = append(ids, fields[0])
			}
		}
	}
	return ids
}

// A server may see other files than its engine: in a container of its own to
// which the engine's socket was given, or with remapped users.
func TestFilesAreCopiedWhereTheyCannotBeShared(t *testing.T) {
	t.Parallel()
	shared(t) // skips where there is no engine
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	hidden := t.TempDir()
	server := exec.Command("unshare", "--mount", "--", "sh", "-c", `mount -t tmpfs none "$TMPDIR" && mkdir "$TMPDIR/w" && "$0" && cat "$TMPDIR/w/ran"`, os.Args[0])
	server.Env = append(os.Environ(), "TMPDIR="+hidden, briefServerVariable+"="+filepath.Join(hidden, "w"))
	out, err := server.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "are copied") || !strings.HasSuffix(string(out), "\nran\n") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	backend := openWith(t, docker.Options{})
	runAtOnce(t, backend, 3, sandbox.Spec{Workspace: t.TempDir(), SkillDir: t.TempDir()})
	backend.AwaitWarm()
	if n := len(containers(t, backend.Session())); n < 2 {
		t.Errorf("%d containers were started ahead", n)
	}
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	expectGone(t, backend.Session(), 0)
}

// Where the private directory of a run ends with it, no other run could use a
// container that was started ahead.
func TestNothingIsStartedAheadForOneRun(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	// The digest of a large file takes longer than the start of a container.
	spec := sandbox.Spec{Shell: "head -c 100M /dev/zero > large", Workspace: t.TempDir()}
	created := followCreated(t, backend)
	for range 2 {
		if _, err := backend.Run(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		backend.AwaitWarm()
	}
	if n := created(); n != 2 {
		t.Errorf("for 2 runs there were %d containers", n)
	}
}

// followCreated returns what says how many containers a backend has created since.
// It listens from now on: the engine remembers the last few events of all only.
func followCreated(t *testing.T, backend *docker.Backend) (created func() int) {
	t.Helper()
	events := exec.Command("docker", "events", "--since", time.Now().Format(time.RFC3339Nano),
		"--filter", "label="+backend.Session(), "--filter", "event=create", "--format", "{{.ID}}")
	out, err := events.StdoutPipe()
	if err == nil {
		err = events.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = events.Process.Kill()
		_ = events.Wait()
	})
	return func() (n int) {
		last, err := exec.Command("docker", "create", "--label", backend.Session(), docker.DefaultImage).Output()
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSpace(string(last))
		if out, err := exec.Command("docker", "rm", id).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != id; n++ {
		}
		return n
	}
}

// A container is started ahead for one run and never used for another; where runs
// do not come at once, one is.
func TestContainersAreUsedOnce(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	spec := sandbox.Spec{Shell: `ls /tmp; echo "$(cat /proc/sys/kernel/random/uuid)" > /tmp/left; sleep 1000 &`, Workspace: t.TempDir(), SkillDir: t.TempDir()}
	for range 3 {
		if result := run(t, backend, spec); len(result.Stdout.Data) > 0 {
			t.Errorf("there was %q", result.Stdout.Data)
		}
		expectWaiting(t, backend, 1, 1)
	}
}

// What is at the directories' names counts, not what was there when a
// container was started.
func TestReplacedDirectoriesAreSeen(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	skill := filepath.Join(t.TempDir(), "skill")
	spec := sandbox.Spec{Shell: `cat "$SKILL_DIR/which"`, SkillDir: skill, Workspace: t.TempDir()}
	for _, which := range []string{"first", "second"} {
		if err := os.RemoveAll(skill); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(skill, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(skill, "which"), []byte(which), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := string(run(t, backend, spec).Stdout.Data); got != which {
			t.Errorf("the skill is the %q one, want the %s one", got, which)
		}
		backend.AwaitWarm()
	}
}

// A container that was started ahead may be removed by anyone.
func TestLostWarmContainersAreReplaced(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	spec := sandbox.Spec{Shell: "echo ran >> log; cat log", Workspace: t.TempDir(), SkillDir: t.TempDir()}
	runAtOnce(t, backend, 2, spec)
	backend.AwaitWarm()
	for _, id := range containers(t, backend.Session()) {
		exec.Command("docker", "rm", "--force", id).Run() // it may be ending anyway
	}
	if got := string(run(t, backend, spec).Stdout.Data); got != "ran\nran\nran\n" {
		t.Errorf("the log is %q", got)
	}
}

func TestNewRemovesWhatDeadServersLeft(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	run(t, backend, sandbox.Spec{Shell: "true"})
	backend.AwaitWarm()
	out, err := exec.Command("docker", "ps", "--all", "--filter", "label="+backend.Session(),
		"--format", `{{.Label "skills-mcp.host"}} {{.Label "skills-mcp.owner"}}`).Output()
	if err != nil {
		t.Fatal(err)
	}
	host, owner, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	parts := strings.Split(owner, "/") // boot, pid, start
	cases := map[string]struct {
		host, owner string
		left        bool
	}{
		"ended":                  {host, parts[0] + "/4194305/1", false},
		"pid used again":         {host, parts[0] + "/" + parts[1] + "/1", false},
		"before the last boot":   {host, "other-boot/" + parts[1] + "/" + parts[2], false},
		"alive":                  {host, owner, true},
		"another machine":        {"other-" + host, parts[0] + "/4194305/1", true},
		"no sense in the labels": {host, "what", true},
	}
	ids := make(map[string]string)
	for name, c := range cases {
		out, err := exec.Command("docker", "create", "--network", "none",
			"--label", "skills-mcp.host="+c.host, "--label", "skills-mcp.owner="+c.owner, "--label", "skills-mcp.test="+backend.Session(),
			docker.DefaultImage, "/bin/true").Output()
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = strings.TrimSpace(string(out))
	}
	t.Cleanup(func() {
		for _, id := range ids {
			exec.Command("docker", "rm", "--force", id).Run()
		}
	})
	openWith(t, docker.Options{}).Close()
	all := containers(t, "skills-mcp.test="+backend.Session())
	for name, c := range cases {
		if left := slices.Contains(all, ids[name]); left != c.left {
			t.Errorf("%s: left is %t", name, left)
		}
	}
	if got := run(t, backend, sandbox.Spec{Shell: "echo alive"}); string(got.Stdout.Data) != "alive\n" {
		t.Errorf("the first server's run ended with %+v", got)
	}
}

// The engine bounds processor time, unless the bound is no less than there is.
func TestProcessorTimeIsBounded(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int]string{500: "500000000", 1024_000: "0"} {
		backend := openUntilEnd(t) // which starts no containers for the other
		quota := "none was looked at"
		result := run(t, backend, sandbox.Spec{
			Shell: `echo there; sleep 1000`, Limits: sandbox.Limits{MilliCPUs: milli},
			Progress: func(string) {
				for _, id := range containers(t, backend.Session()) {
					out, err := exec.Command("docker", "inspect", "--format={{if .State.Running}}{{.HostConfig.NanoCpus}}{{end}}", id).CombinedOutput()
					if got := strings.TrimSpace(string(out)); err != nil || got != "" { // else it is being made, for the next run
						if quota = got; err != nil || quota != want {
							t.Errorf("with %d thousandths the quota is %s, want %s: %v", milli, quota, want, err)
						}
					}
					exec.Command("docker", "rm", "--force", id).Run()
				}
			},
		})
		if result.Status != sandbox.Lost || quota != want {
			t.Errorf("with %d thousandths the quota is %s: %+v", milli, quota, result)
		}
	}
}
