package escape

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// scene is what all attempts share: a skill that holds the probe, a workspace
// that is empty before each of them, and victims. In directories that stay the
// same a backend may have a sandbox ready.
type scene struct {
	skill, workspace string
	victims          Victims
	// granted reports that attempts are made with grants, and libraryAt where
	// programs find a library, empty where that is as it is.
	granted   bool
	libraryAt string
	// prepare, if set, adds to what is staged what the attempts are in.
	prepare func(*testing.T, []Victims) []sandbox.Share
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{skill: t.TempDir(), workspace: t.TempDir()}
	copyFile(t, "/proc/self/exe", filepath.Join(s.skill, probeName), 0o755)
	if os.Geteuid() == 0 {
		copyFile(t, "/usr/bin/id", filepath.Join(s.skill, "setuid"), 0o755|os.ModeSetuid)
	}
	s.mend(t)
	s.victims.Marker = "skills-mcp-escape-" + rand.Text()
	s.machine(t)
	s.lock(t)
	s.process(t)
	s.listen(t)
	s.reach(t)
	s.queues(t)
	return s
}

// mend makes again what attempts on the skill have changed.
func (s *scene) mend(t *testing.T) {
	t.Helper()
	for _, name := range []string{"file", "other"} {
		os.Remove(filepath.Join(s.skill, name)) // where there is one
		testfiles.Write(t, filepath.Join(s.skill, name), "of the skill")
	}
	os.Remove(filepath.Join(s.skill, "new")) // where there is one
}

// stage empties the workspace, and returns new victims for each of the attempts
// and what makes these. As apart are those made in a network of their own that
// need one.
func (s *scene) stage(t *testing.T, batch []Attempt, proxy string, apart bool) ([]Victims, sandbox.Spec) {
	t.Helper()
	left, err := os.ReadDir(s.workspace)
	for _, entry := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.workspace, entry.Name())))
	}
	victims := make([]Victims, len(batch))
	for i := range victims {
		victims[i] = s.victims
		victims[i].Dir, victims[i].Proxy = t.TempDir(), proxy
		err = errors.Join(err,
			os.WriteFile(victims[i].secret(), []byte(secret), 0o600),
			os.WriteFile(filepath.Join(victims[i].Dir, "program"), []byte("#!/bin/sh\n"), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := sandbox.Spec{SkillDir: s.skill, Workspace: s.workspace, Limits: batch[0].Limits}
	if s.prepare != nil {
		spec.Shares = s.prepare(t, victims)
	}
	spec.Project, spec.InProject = len(spec.Shares) > 0, len(spec.Shares) > 0
	if s.granted {
		spec.Egress = closing{}
		for _, v := range victims {
			spec.Show = append(spec.Show, v.shown())
		}
		spec.Path = spec.Show[:1]
		spec.Library = furnishLibrary(t, victims, s.libraryAt)
	}
	for i := range victims {
		if handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, victims[i].secret(), 0); err == nil { // not every file system has any
			victims[i].Handle, victims[i].HandleType = handle.Bytes(), handle.Type()
		}
	}
	if spec.Limits.MemoryBytes == 0 {
		spec.Limits.MemoryBytes = plenty
	}
	switch attempt := batch[0]; {
	case together(batch):
		spec.Script, spec.Args, spec.Stdin = probeName, []string{allOrders}, encode(t, orders(batch, victims, apart))
		spec.Limits.Timeout = batchPatience
	case attempt.Shell != "":
		spec.Shell, spec.Env = attempt.Shell, victims[0].environ()
	default:
		spec.Script, spec.Args = probeName, []string{attempt.Name, string(encode(t, victims[0]))}
	}
	return victims, spec
}

// process starts the victim of what is done to processes.
func (s *scene) process(t *testing.T) {
	t.Helper()
	victim := exec.Command("sleep", "1000")
	victim.Env = []string{"SECRET=" + secret}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		victim.Process.Kill()
		victim.Wait() // killed
	})
	s.victims.PID = victim.Process.Pid
}

// listen opens the sockets that may be reached.
func (s *scene) listen(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	s.victims.Stream, s.victims.Datagram = filepath.Join(dir, "stream"), filepath.Join(dir, "datagram")
	s.victims.Abstract = s.victims.Marker
	tcp := serve(t, "tcp4", "127.0.0.1:0")
	s.victims.TCP = tcp.Addr().(*net.TCPAddr).Port
	if listener, err := net.Listen("tcp6", "[::1]:0"); err == nil { // not every machine can
		t.Cleanup(func() { listener.Close() })
		s.victims.TCP6 = listener.Addr().(*net.TCPAddr).Port
	}
	serve(t, "unix", s.victims.Stream)
	serve(t, "unix", "@"+s.victims.Abstract)
	s.victims.UDP = echo(t, "udp4", "127.0.0.1:0").LocalAddr().(*net.UDPAddr).Port
	if s.victims.TCP6 != 0 {
		s.victims.UDP6 = echo(t, "udp6", "[::1]:0").LocalAddr().(*net.UDPAddr).Port
	}
	echo(t, "unixgram", s.victims.Datagram)
}

func serve(t *testing.T, network, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	if socket, ok := listener.(*net.UnixListener); ok {
		socket.SetUnlinkOnClose(false) // by a descriptor's name, which may be another directory's by then
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // closed
			}
			connection.Close()
		}
	}()
	return listener
}

// echo answers packets with what is in them.
func echo(t *testing.T, network, address string) net.PacketConn {
	t.Helper()
	connection, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	answer(t, connection)
	return connection
}

// answer answers until the end of the test.
func answer(t *testing.T, connection net.PacketConn) {
	t.Cleanup(func() { connection.Close() })
	go func() {
		buf := make([]byte, 1<<10)
		for {
			n, from, err := connection.ReadFrom(buf)
			if err != nil {
				return // closed
			}
			if from != nil { // some have no name to answer to
				connection.WriteTo(buf[:n], from)
			}
		}
	}()
}

// queues makes what processes of one machine share by name. Where the kernel
// has none of it, what is done to it is not shown.
func (s *scene) queues(t *testing.T) {
	t.Helper()
	s.victims.SharedMemory, s.victims.Queue = -1, -1
	if id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600); err == nil {
		t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		memory, err := unix.SysvShmAttach(id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		copy(memory, secret)
		if err := unix.SysvShmDetach(memory); err != nil {
			t.Fatal(err)
		}
		s.victims.SharedMemory = id
	}
	if id, _, errno := unix.Syscall(unix.SYS_MSGGET, unix.IPC_PRIVATE, 0o600, 0); errno == 0 {
		t.Cleanup(func() { unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) })
		s.victims.Queue = int(id)
	}
	name, err := unix.BytePtrFromString(s.victims.Marker)
	if err != nil {
		t.Fatal(err)
	}
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC
	if fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), flags, 0o600, 0, 0, 0); errno == 0 {
		unix.Close(int(fd))
		t.Cleanup(func() { unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0) })
		s.victims.MessageQueue = s.victims.Marker
	}
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	syscall.ForkLock.RLock() // else a child could still have it open to write when it is started
	defer syscall.ForkLock.RUnlock()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Chmod(mode), target.Close()); err != nil {
		t.Fatal(err)
	}
}
