package launcher_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testprocess"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/launcher"
)

// child is the name of a process that writes a line of /proc/self/cgroup and lives
// until its input ends.
const child = "skills-mcp-launcher-test"

func init() {
	if supervisor.Asked(child) {
		in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
		line, _ := os.ReadFile("/proc/self/cgroup")
		out.Write(line)
		out.Close()
		io.Copy(io.Discard, in)
		os.Exit(0)
	}
}

// start starts a child, and returns it and what it has written.
func start(t *testing.T, l *launcher.Launcher, attr *syscall.SysProcAttr) (p *launcher.Process, said string, err error) {
	t.Helper()
	in, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, reply, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	p, err = l.Start(supervisor.Command(child, attr, in, reply), nil)
	in.Close()
	reply.Close()
	content, readErr := io.ReadAll(out)
	if err := errors.Join(readErr, out.Close()); err != nil {
		t.Fatal(err)
	}
	return p, string(content), err
}

func TestProcess(t *testing.T) {
	t.Parallel()
	var l launcher.Launcher
	defer l.Close()
	var all []*launcher.Process
	for range 3 {
		p, _, err := start(t, &l, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL})
		if err != nil {
			t.Fatal(err)
		}
		if !testprocess.Alive(p.PID()) {
			t.Fatalf("process %d is not there", p.PID())
		}
		all = append(all, p)
	}
	all[0].Kill()
	for i, p := range all {
		if i == 1 {
			l.Close() // they die with what has started them
		}
		p.Wait()
		if testprocess.Alive(p.PID()) {
			t.Errorf("process %d is there after its end", i)
		}
		p.Kill() // is allowed, and kills nobody
	}
	if l.PID() != 0 {
		t.Error("the launcher is there after Close")
	}
}

// What cannot be started is said, and costs nothing that can.
func TestRefusal(t *testing.T) {
	t.Parallel()
	var l launcher.Launcher
	defer l.Close()
	_, _, err := start(t, &l, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_FS})
	if !errors.Is(err, unix.EINVAL) || errors.Is(err, launcher.ErrGone) {
		t.Errorf("what the kernel refuses ends with %v", err)
	}
	before := l.PID()
	if _, _, err := start(t, &l, new(syscall.SysProcAttr)); err != nil || l.PID() != before {
		t.Errorf("then it is %d instead of %d, %v", l.PID(), before, err)
	}
}

// A process begins in a cgroup of version 2, which a test needs root to mount.
func TestCgroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	mount := t.TempDir()
	if err := unix.Mount("none", mount, "cgroup2", 0, ""); err != nil {
		t.Skip("no cgroups of version 2: ", err)
	}
	defer unix.Unmount(mount, unix.MNT_DETACH)
	name := fmt.Sprintf("launcher-test-%d", os.Getpid())
	dir := filepath.Join(mount, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip(err)
	}
	defer os.Remove(dir)
	group, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	var l launcher.Launcher
	defer l.Close()
	p, said, err := start(t, &l, &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "0::/"+name+"\n") {
		t.Errorf("it is in %s", said)
	}
	p.Kill()
	p.Wait()
	if err := os.Remove(dir); err != nil {
		t.Errorf("the cgroup of the dead process: %v", err)
	}
}
