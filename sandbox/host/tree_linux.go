package host

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const bounded = "time, output and the life of all their processes are bounded"

// supervisorPatience is how long a supervisor that was told to kill its tree
// may take before it is killed itself.
const supervisorPatience = 2 * giveUpAfter

// tree is a supervisor and the processes below it.
type tree struct {
	supervisor *exec.Cmd
	// leash is never written after the start; the supervisor kills its tree
	// when the other end closes, by us or by our death.
	leash   *os.File
	reports *os.File
	decoder *gob.Decoder

	mu     sync.Mutex
	pid    int // of the program, once it is known
	ended  bool
	lastly *time.Timer // kills the supervisor
}

// prepare checks that supervisors can be started.
func prepare() error {
	if _, err := os.Readlink(selfExe); err != nil {
		return errors.New("/proc is not mounted")
	}
	return nil
}

// selfExe starts this very program even where its file was replaced.
const selfExe = "/proc/self/exe"

// start starts a supervisor and has it start a program. Whether it could is
// for wait to tell, since from here on the program may be running and may
// have stopped its supervisor. Errors are of type [sandbox.SetupError].
func start(what program, s *streams) (*tree, error) {
	t := new(tree)
	if err := t.startSupervisor(s); err != nil {
		return nil, startFailed(err)
	}
	t.decoder = gob.NewDecoder(t.reports)
	var ready report
	err := errors.Join(gob.NewEncoder(t.leash).Encode(what), t.decoder.Decode(&ready))
	if err == nil {
		err = ready.err()
	}
	if err != nil {
		t.kill()
		t.end()
		return nil, startFailed(err)
	}
	return t, nil
}

func (t *tree) startSupervisor(s *streams) error {
	orders, leash, err := os.Pipe()
	if err != nil {
		return err
	}
	reports, reportTo, err := os.Pipe()
	if err != nil {
		return errors.Join(err, orders.Close(), leash.Close())
	}
	t.leash, t.reports = leash, reports
	t.supervisor = &exec.Cmd{
		Path:        selfExe,
		Args:        []string{supervisorName},
		Env:         []string{},
		Stdout:      s.stdout,
		Stderr:      s.stderr,
		ExtraFiles:  []*os.File{orders, reportTo},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // out of reach of the terminal's signals
		WaitDelay:   pipeDelay,
	}
	if s.stdin != nil {
		t.supervisor.Stdin = bytes.NewReader(s.stdin)
	}
	err = t.supervisor.Start()
	err = errors.Join(err, orders.Close(), reportTo.Close())
	if err != nil {
		err = errors.Join(err, leash.Close(), reports.Close())
	}
	return err
}

// kill makes the supervisor kill everything. It may be called at any time,
// more than once, from any goroutine.
func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.lastly != nil {
		return
	}
	t.leash.Close()
	t.lastly = time.AfterFunc(supervisorPatience, t.killSupervisor)
}

// killSupervisor is for a supervisor that does not work, for example because
// the program has stopped it.
func (t *tree) killSupervisor() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.supervisor.Process.Kill()
		t.killProgram()
	}
}

// killProgram kills the program's process group, which is as far as one can
// get without a supervisor. The lock is held.
func (t *tree) killProgram() {
	if t.pid > 0 {
		unix.Kill(-t.pid, unix.SIGKILL)
	}
}

// wait returns when the tree is dead and its output is captured. The error,
// of type [sandbox.SetupError], means that the program was not started.
func (t *tree) wait() (ending, error) {
	defer t.end()
	var begun, last report
	err := t.decoder.Decode(&begun)
	if err == nil {
		if err := begun.err(); err != nil {
			return ending{}, startFailed(err)
		}
		t.mu.Lock()
		t.pid = begun.PID
		t.mu.Unlock()
		err = t.decoder.Decode(&last)
	}
	if err != nil { // the supervisor was killed, and the kernel kills the program then
		t.mu.Lock()
		defer t.mu.Unlock()
		t.killProgram()
		return ending{signal: signalName(unix.SIGKILL), killed: t.lastly != nil}, nil
	}
	return last.ending(), nil
}

// end waits for the supervisor itself and releases everything.
func (t *tree) end() {
	io.Copy(io.Discard, t.reports)
	t.supervisor.Wait() // how it ended does not matter: it has reported, or cannot
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.lastly != nil {
		t.lastly.Stop()
	}
	t.leash.Close()
	t.reports.Close()
}

// report is what a supervisor says, three times: when it is ready to start
// the program, when it has done so, and when all is over.
type report struct {
	Errno  int    // why it goes no further
	PID    int    // of the program, in the second report
	Status uint32 // of the program, as wait4 gives it, in the third
	Killed bool   // the program had not ended when it was killed
}

// reportOf gives the report of a step that may have failed.
func reportOf(err error) report {
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		errno = unix.EINVAL
	}
	return report{Errno: int(errno)}
}

func (r report) err() error {
	if r.Errno == 0 {
		return nil
	}
	return syscall.Errno(r.Errno)
}

func (r report) ending() ending {
	status := unix.WaitStatus(r.Status)
	if status.Exited() {
		return ending{code: status.ExitStatus(), killed: r.Killed}
	}
	return ending{signal: signalName(status.Signal()), killed: r.Killed}
}
