package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// terminal runs a command as a user at a terminal does.
type terminal struct {
	master *os.File
	screen *program.Output // all that was drawn, with control sequences
}

// openTerminal starts a command on a terminal of its own, which ends with the
// test.
func openTerminal(t *testing.T, env []string, dir, name string, args ...string) *terminal {
	t.Helper()
	master, slave := pseudoTerminal(t)
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	term := &terminal{master: master, screen: &program.Output{}}
	left := make(chan struct{})
	go func() {
		defer close(left)
		master.WriteTo(term.screen) // until no process has the terminal open
		cmd.Wait()
	}()
	t.Cleanup(func() {
		// The group: the command may have started what really runs.
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-left:
		case <-time.After(program.Patience):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-left
			t.Errorf("%s had to be killed", name)
		}
		master.Close()
		if t.Failed() {
			t.Logf("the screen: %q", term.screen)
		}
	})
	return term
}

// pseudoTerminal opens both ends of a new terminal of 40 lines and 140 columns.
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	control := func(request uintptr, argument unsafe.Pointer) {
		conn, err := master.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var failed syscall.Errno
		if err := conn.Control(func(fd uintptr) {
			_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(argument))
		}); err != nil || failed != 0 {
			t.Fatalf("ioctl %#x: %v %v", request, err, failed)
		}
	}
	var locked, number uint32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{40, 140}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// say types a line and gives the model's answer time to come, and returns
// the request that the line has led to.
func (term *terminal) say(t *testing.T, m *model, line string) messagesRequest {
	t.Helper()
	const typing = 10 * time.Second // before the client reads, a line may be lost
	var said messagesRequest
	var typed, entered time.Time
	program.Eventually(t, "the model is asked "+line, func() bool {
		for _, request := range m.conversation() {
			if strings.Contains(request.text(), line) {
				said = request
				return true
			}
		}
		switch now := time.Now(); {
		case now.Sub(typed) > typing:
			term.master.WriteString(line)
			typed, entered = now, now
		case now.Sub(entered) > time.Second:
			// Not at once with the line: that would be pasting.
			term.master.WriteString("\r")
			entered = now
		}
		return false
	})
	return said
}

// A user attaches a skill with @ and its URI. Claude Code does so only at a
// terminal, not with -p.
func TestClaudeCodeAttachesResources(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	require(t, "node")
	m := newModel(t)
	c := newClaude(t, m, sampleRoot(t))
	term := openTerminal(t, c.env, c.project, "node", append([]string{c.launcher}, c.args()...)...)

	// The server connects while the user may write already.
	attached := false
	for attempt := 1; !attached && attempt <= 5; attempt++ {
		request := term.say(t, m, fmt.Sprintf("(%d) See @skills:skill://log-triage/SKILL.md please.", attempt))
		attached = strings.Contains(request.text(), strings.TrimSpace(sample(t, "log-triage/SKILL.md")))
	}
	if !attached {
		t.Error("no request has the resource")
	}
}
