package host

import (
	"os/exec"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/skills-mcp/skills-mcp/sandbox/host/internal/child"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

const bounded = "time, output and the life of their job object are bounded"

// killedExitCode is what killed programs exit with.
const killedExitCode = 137

// tree is a program and the job object that it and its children are in.
type tree struct {
	command *exec.Cmd
	killed  atomic.Bool

	mu       sync.Mutex
	job      windows.Handle // 0 once it is closed
	enrolled bool
}

func prepare() error { return nil }

// start starts a program and puts it into a job object. Errors are of type
// [sandbox.SetupError].
func (starter) start(what child.Order, s *process.Streams) (process.Tree, error) {
	job, err := newJob()
	if err != nil {
		return nil, process.StartFailed(err)
	}
	command := commandOf(what, s)
	if err := command.Start(); err != nil {
		windows.CloseHandle(job)
		return nil, process.StartFailed(err)
	}
	t := &tree{command: command, job: job}
	// It fails for a program that has ended already. For any other the
	// process alone is killed.
	t.enrolled = t.enroll() == nil
	return t, nil
}

// newJob makes a job object that dies with its last handle, so that programs
// do not outlive the server.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// enroll puts the program into the job.
func (t *tree) enroll() error {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	handle, err := windows.OpenProcess(access, false, uint32(t.command.Process.Pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle)
	return windows.AssignProcessToJobObject(t.job, handle)
}

// Kill kills the job. It may be called at any time, more than once, from any
// goroutine.
func (t *tree) Kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.killed.Store(true)
	switch {
	case t.job == 0:
	case t.enrolled:
		windows.TerminateJobObject(t.job, killedExitCode)
	default:
		t.command.Process.Kill()
	}
}

// Wait returns when the job is dead and its output is captured. The children
// that the program leaves behind may go on with its output for as long as
// pipeDelay.
func (t *tree) Wait() (process.Ending, error) {
	t.command.Wait() // how it ended is in ProcessState
	t.mu.Lock()
	windows.CloseHandle(t.job)
	t.job = 0
	t.mu.Unlock()
	code := t.command.ProcessState.ExitCode()
	if t.killed.Load() && (code == killedExitCode || !t.enrolled) {
		return process.Ending{Ending: reaper.Ending{Signal: "SIGKILL", Killed: true}}, nil
	}
	return process.Ending{Ending: reaper.Ending{Code: code & 0xff, Killed: t.killed.Load()}}, nil
}
