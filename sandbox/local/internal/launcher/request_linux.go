package launcher

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// request asks for a process. Its files come with the byte before, and then that of
// its cgroup, if it is to begin in one.
type request struct {
	Name     string
	Env      []string
	Attr     syscall.SysProcAttr // of which those are sent that jails have
	ThreadIn []string
}

// Fields implements [wire.Message].
func (r *request) Fields(t *wire.Transfer) {
	t.String(&r.Name)
	t.Strings(&r.Env)
	t.Strings(&r.ThreadIn)
	a := &r.Attr
	t.Bool(&a.Setsid)
	t.Bool(&a.UseCgroupFD)
	t.Bool(&a.GidMappingsEnableSetgroups)
	wire.Int(t, &a.Pdeathsig)
	wire.Int(t, &a.Cloneflags)
	mapping := func(m *syscall.SysProcIDMap) {
		wire.Int(t, &m.ContainerID)
		wire.Int(t, &m.HostID)
		wire.Int(t, &m.Size)
	}
	if a.Cloneflags&unix.CLONE_NEWUSER != 0 { // else there must be none, not even of no elements
		wire.Slice(t, &a.UidMappings, mapping)
		wire.Slice(t, &a.GidMappings, mapping)
	}
	wire.Slice(t, &a.AmbientCaps, func(c *uintptr) { wire.Int(t, c) })
	become := a.Credential != nil
	if t.Bool(&become); become {
		if a.Credential == nil {
			a.Credential = new(syscall.Credential)
		}
		wire.Int(t, &a.Credential.Uid)
		wire.Int(t, &a.Credential.Gid)
	}
}

// answer says what came of a request. The process's handle follows.
type answer struct {
	PID   int
	Errno int // why there is no process
	Text  string
}

// Fields implements [wire.Message].
func (a *answer) Fields(t *wire.Transfer) {
	wire.Int(t, &a.PID)
	wire.Int(t, &a.Errno)
	t.String(&a.Text)
}

// refusal returns the answer where an error came instead of a process.
func refusal(err error) *answer {
	errno := syscall.EINVAL
	errors.As(err, &errno)
	return &answer{Errno: int(errno), Text: err.Error()}
}

// startError is an error of the launcher's own process.
type startError struct{ answer }

func (e *startError) Error() string { return "start a process: " + e.Text }

// Unwrap returns the system's error.
func (e *startError) Unwrap() error { return syscall.Errno(e.Errno) }
