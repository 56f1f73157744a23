package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// SSH is a machine with an OpenSSH server and a docker command.
type SSH struct {
	// Host is its address.
	Host string
	// KnownHosts is the file by which ssh knows it, and Docker the docker
	// command that is found there: a link to this machine's.
	KnownHosts, Docker string

	dir      string
	sessions atomic.Int32
}

// ServeSSH serves this machine's engine by ssh until the end of the test. The
// test cannot be parallel: the ssh command on the PATH has other settings than
// the user's.
func ServeSSH(t testing.TB) *SSH {
	t.Helper()
	engine := Socket(t)
	s := &SSH{Host: "ssh://engine.test", dir: t.TempDir()}
	s.KnownHosts, s.Docker = s.file("known_hosts"), s.file("there/docker")
	s.link(t)
	for _, key := range []string{"host", "user"} {
		s.run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.file(key))
	}
	server := s.configure(t, engine)
	s.run(t, server, "-t", "-f", s.file("sshd_config"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, listener, func(ctx context.Context, conn net.Conn) { s.session(ctx, t, server, conn) })
	s.configureClient(t, listener.Addr().(*net.TCPAddr).Port)
	s.run(t, "ssh", "-o", "BatchMode=yes", "engine.test", "docker", "version")
	return s
}

// Set adds to the settings of the ssh command for that machine.
func (s *SSH) Set(t testing.TB, lines ...string) {
	t.Helper()
	file, err := os.OpenFile(s.file("ssh_config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
}

// Sessions returns how many connections there are.
func (s *SSH) Sessions() int { return int(s.sessions.Load()) }

func (s *SSH) file(name string) string { return filepath.Join(s.dir, name) }

// link makes the docker command that is found there.
func (s *SSH) link(t testing.TB) {
	t.Helper()
	docker, err := exec.LookPath("docker")
	if err != nil {
		testenv.Need(t, "docker", err)
	}
	if err := os.Mkdir(filepath.Dir(s.Docker), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(docker, s.Docker); err != nil {
		t.Fatal(err)
	}
}

// configure writes the settings of a server for an engine, and returns its
// program.
func (s *SSH) configure(t testing.TB, engine string) (server string) {
	t.Helper()
	server, err := exec.LookPath("sshd")
	if err != nil { // it is not on every user's path
		server = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(server); err != nil {
		testenv.Need(t, "docker", err)
	}
	s.write(t, "sshd_config",
		"HostKey "+s.file("host"),
		"AuthorizedKeysFile "+s.file("user.pub"),
		"AuthenticationMethods publickey",
		"PermitRootLogin prohibit-password",
		"StrictModes no",
		"PidFile none",
		"PrintMotd no",
		"SetEnv PATH="+filepath.Dir(s.Docker)+" DOCKER_HOST=unix://"+engine)
	return server
}

// configureClient makes an ssh command with settings of its own.
func (s *SSH) configureClient(t testing.TB, port int) {
	t.Helper()
	client, err := exec.LookPath("ssh")
	if err != nil {
		testenv.Need(t, "docker", err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(s.file("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", port, bytes.TrimSpace(key)))
	s.write(t, "ssh_config",
		"Host engine.test",
		"HostName 127.0.0.1",
		fmt.Sprintf("Port %d", port),
		"User "+me.Username,
		"IdentityFile "+s.file("user"),
		"IdentitiesOnly yes",
		"UserKnownHostsFile "+s.KnownHosts,
		"GlobalKnownHostsFile none")
	if err := os.Mkdir(s.file("here"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write(t, "here/ssh", "#!/bin/sh", fmt.Sprintf(`exec '%s' -F '%s' "$@"`, client, s.file("ssh_config")))
	if err := os.Chmod(s.file("here/ssh"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", s.file("here")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func (s *SSH) write(t testing.TB, name string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(s.file(name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs what must succeed before the test can begin.
func (s *SSH) run(t testing.TB, program string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(program, arguments...).CombinedOutput(); err != nil {
		testenv.Need(t, "docker", fmt.Errorf("%s %v: %w: %s", program, arguments, err, out))
	}
}

// session lets the server handle a connection, as inetd does.
func (s *SSH) session(ctx context.Context, t testing.TB, server string, conn net.Conn) {
	s.sessions.Add(1)
	defer s.sessions.Add(-1)
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	command := exec.CommandContext(ctx, server, "-i", "-e", "-f", s.file("sshd_config"))
	command.Stdin, command.Stdout = file, file
	command.Run() // however the connection ends
}
