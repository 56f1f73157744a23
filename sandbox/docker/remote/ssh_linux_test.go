package remote

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testprocess"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

func TestEngineOverSSH(t *testing.T) {
	enginetest.Settings(t, nil)
	server := enginetest.ServeSSH(t)
	expectUsable(t, reach(t, server.Host))
	t.Setenv("DOCKER_HOST", server.Host+"/var/run/docker.sock")
	expectUsable(t, reach(t, ""))
}

// What a user wants of an ssh at a terminal must neither end nor garble
// connections, nor leave anything behind.
func TestSSHWithSettingsForTerminals(t *testing.T) {
	enginetest.Settings(t, nil)
	server := enginetest.ServeSSH(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	marks := t.TempDir()
	server.Set(t, "LocalForward "+taken.Addr().String()+" 127.0.0.1:1", "ExitOnForwardFailure yes")
	server.Set(t, "PermitLocalCommand yes", "LocalCommand echo hello; touch "+marks+"/local")
	server.Set(t, "RemoteCommand touch "+marks+"/remote", "RequestTTY force", "ForwardAgent yes", "ForwardX11 yes")
	server.Set(t, "ControlMaster auto", "ControlPersist 60", "ControlPath "+marks+"/m")
	e := reach(t, server.Host)
	expectUsable(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(marks); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
	eventually(t, "the server sees all connections end", func() bool { return server.Sessions() == 0 })
}

// What ssh says last tells what is wrong, and it is started once: servers lock
// out those who fail too often.
func TestSSHThatFails(t *testing.T) {
	enginetest.Settings(t, nil)
	server := enginetest.ServeSSH(t)
	expect := func(host, says string) {
		t.Helper()
		_, err := engine.Dial(t.Context(), host, Access{}.Route)
		if !errors.Is(err, engine.ErrNoSSH) || !strings.Contains(err.Error(), says) {
			t.Errorf("dial gives %v, want %q", err, says)
		}
		expectNoProcesses(t)
	}
	expect(server.Host+"/no/such.sock", "/no/such.sock")
	expect("ssh://no_such_user_here@engine.test", "Permission denied")
	expect("ssh://engine.test:1", "Connection refused")
	os.Remove(server.Docker)
	expect(server.Host, "docker: ")
	known, err := os.ReadFile(server.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(server.KnownHosts, nil, 0o600)
	t.Setenv("SSH_ASKPASS_REQUIRE", "force")
	yes := filepath.Join(t.TempDir(), "yes")
	if err := os.WriteFile(yes, []byte("#!/bin/sh\necho yes\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_ASKPASS", yes) // nobody is asked
	expect(server.Host, "Host key verification failed.")
	if now, err := os.ReadFile(server.KnownHosts); err != nil || len(now) > 0 {
		t.Errorf("after an unknown host, known are %q, %v", now, err)
	}
	other := strings.Replace(string(known), "AAAA", "AAAB", 1)
	os.WriteFile(server.KnownHosts, []byte(other), 0o600)
	expect(server.Host, "Host key verification failed.")
	t.Setenv("PATH", t.TempDir())
	expect(server.Host, "executable file not found")
}

// sshProcesses returns those that this process has started, also those that have
// ended and are not waited for.
func sshProcesses(t *testing.T, parent int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil { // gone meanwhile
			continue
		}
		var pid, ppid int
		var state string
		head, tail, _ := strings.Cut(string(stat), " (ssh) ")
		if _, err := fmt.Sscan(head+" "+tail, &pid, &state, &ppid); err == nil && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

func expectNoProcesses(t *testing.T) {
	t.Helper()
	if pids := sshProcesses(t, os.Getpid()); len(pids) > 0 {
		t.Errorf("there still are the processes %v", pids)
	}
}

// eventually waits for what others do.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("without result: %s", what)
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// However connections end, nothing of them is left.
func TestSSHLeavesNothing(t *testing.T) {
	enginetest.Settings(t, nil)
	server := enginetest.ServeSSH(t)
	reach(t, server.Host) // opens what stays open
	eventually(t, "the first connection is the only one", func() bool { return server.Sessions() == 1 })
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	own, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e, err := engine.Dial(t.Context(), server.Host, Access{}.Route)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := startCat(t, t.Context(), e, "left")
		_, released := startCat(t, t.Context(), e, "released")
		released.Conn.Close()
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.List(canceled, "a", "b"); !errors.Is(err, context.Canceled) {
			t.Errorf("list gives %v", err)
		}
		for _, pid := range sshProcesses(t, os.Getpid()) {
			if session, err := unix.Getsid(pid); err == nil && session == own {
				t.Error("ssh gets the signals of this process's terminal")
			}
		}
		if err := e.Remove(t.Context(), id); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if pids := sshProcesses(t, os.Getpid()); len(pids) > 1 {
			t.Errorf("after close there are the processes %v", pids)
		}
		if _, err := e.List(t.Context(), "a", "b"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after close list gives %v", err)
		}
	}
	eventually(t, "the server sees all connections end", func() bool { return server.Sessions() <= 1 })
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "descriptors are closed", func() bool { return descriptors(t) <= files })
}

// An ssh that does not end when its streams do is killed.
func TestSSHThatDoesNotEnd(t *testing.T) {
	t.Setenv("PATH", t.TempDir()+":"+os.Getenv("PATH"))
	command, _, _ := strings.Cut(os.Getenv("PATH"), ":")
	script := "#!/bin/sh\ntrap '' HUP TERM PIPE\necho $$\nexec sleep 60\n"
	if err := os.WriteFile(filepath.Join(command, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	dialer := newSSHDialer(nil)
	conn, err := dialer.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	dialer.close()
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read gives %v", err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(line)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there still: %v", err)
	}
	if _, err := dialer.dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after close there is a connection, %v", err)
	}
}

// sshServerVariable makes this test program a server that is to be killed.
const sshServerVariable = "SKILLS_MCP_TEST_SSH_SERVER"

func TestSSHOfAKilledServer(t *testing.T) {
	if host := os.Getenv(sshServerVariable); host != "" {
		e := reach(t, host)
		startCat(t, t.Context(), e, os.Getenv("SKILLS_MCP_TEST_LABEL"))
		go e.List(t.Context(), "a", "b")
		fmt.Println("\nrunning")
		select {}
	}
	enginetest.Settings(t, nil)
	host := enginetest.ServeSSH(t)
	label := rand.Text()
	server := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	server.Env = append(os.Environ(), sshServerVariable+"="+host.Host, "SKILLS_MCP_TEST_LABEL="+label)
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for line, said := "", bufio.NewReader(stdout); line != "running\n"; {
		if line, err = said.ReadString('\n'); err != nil {
			t.Fatalf("the server did not come up: %v, %v", err, server.Wait())
		}
	}
	pids := sshProcesses(t, server.Process.Pid)
	if len(pids) < 2 || host.Sessions() < 2 {
		t.Errorf("the server has the processes %v and %d connections", pids, host.Sessions())
	}
	server.Process.Kill()
	server.Wait()
	for _, pid := range pids {
		eventually(t, "ssh ends with its server", func() bool { return !testprocess.Alive(pid) })
	}
	eventually(t, "connections end with their server", func() bool { return host.Sessions() == 0 })
	e, err := engine.Dial(t.Context(), "unix://"+enginetest.Socket(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	eventually(t, "containers end with their server", func() bool {
		left, err := e.List(t.Context(), "skills-mcp.test", label)
		return err == nil && len(left) == 0
	})
}
