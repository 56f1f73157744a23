package supervisor

import (
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// giveUpAfter is how long one tries to kill what does not die, such as
// processes of another user.
const giveUpAfter = 2 * time.Second

// The descriptors of a supervisor, besides the streams of the program.
const (
	ordersFD  = 3
	reportsFD = 4
)

// Asked reports whether this process was started to be the supervisor of that
// name. It must be asked in the init function of a package, which then ends
// the process: any program that can start a supervisor is one, without a hook
// in main that can be forgotten.
func Asked(name string) bool { return len(os.Args) == 1 && os.Args[0] == name }

// Job is what one kind of supervisor does.
type Job struct {
	// Setting, if set, is filled from [Config.Setting].
	Setting wire.Message
	// Ahead, if set, does what can be done before the order is there.
	Ahead func() error
	// Orders are filled from [Order.Orders].
	Orders wire.Message
	// Prepare makes this process what a program may be started from. It is
	// given the descriptors of [Order.Files], and returns those that the server
	// is to have, as many as [Order.Returns] says. They are closed here before
	// the program is started.
	Prepare func(files []int) (returned []int, err error)
	// Start starts the program on this process's standard streams.
	Start func() (pid int, err error)
	// Ended, if set, is called when no process of the program is left, before
	// the server hears of that.
	Ended func()
	// KillAll is that of [reaper.Watch].
	KillAll func()
}

// Serve does a job and returns when all its processes are dead. It returns the
// exit code of the supervisor. The caller's thread is that which starts the
// program, and must live on: it is the one that Pdeathsig is about.
func Serve(job Job) int {
	runtime.LockOSThread()
	orders, reports := os.NewFile(ordersFD, "orders"), os.NewFile(reportsFD, "reports")
	if !job.prepare(orders, reports) {
		return 1
	}
	pid, err := job.Start()
	closeStreams()
	begun := reportOf(err)
	begun.PID = pid
	// Where the server has died meanwhile, it is lost. The program runs
	// nevertheless; that the control pipe is closed will end it.
	_ = wire.Send(reports, &begun)
	if begun.Errno != 0 {
		return 1
	}
	var said time.Time
	killAll := func() {
		job.KillAll()
		if time.Since(said) > giveUpAfter/2 {
			said = time.Now()
			_ = wire.Send(reports, &report{Working: true})
		}
	}
	outcome := reaper.Watch{PID: pid, Released: released(orders), KillAll: killAll, GiveUp: giveUpAfter}.Wait()
	if job.Ended != nil && !outcome.Left {
		job.Ended()
	}
	if err := wire.Send(reports, &report{Ending: outcome.Ending, Left: outcome.Left}); err != nil {
		return 1
	}
	return 0
}

// prepare does what comes before the start of the program.
func (j *Job) prepare(orders, reports *os.File) bool {
	var err error
	if j.Setting != nil && wire.Receive(orders, j.Setting) != nil {
		return false
	}
	if j.Ahead != nil {
		err = j.Ahead()
	}
	if !sendStep(reports, err) {
		return false
	}
	files, err := receiveOrder(orders, j.Orders)
	if err != nil { // the server has closed its end
		return false
	}
	returned, err := j.Prepare(files)
	if len(returned) > 0 && err == nil {
		err = wire.SendFiles(orders, 0, returned...)
	}
	for _, fd := range returned {
		unix.Close(fd)
	}
	return sendStep(reports, err)
}

// sendStep reports how a step went, and whether to go on.
func sendStep(reports *os.File, err error) bool {
	r := reportOf(err)
	return wire.Send(reports, &r) == nil && err == nil
}

// closeStreams closes the program's streams here, so that they end with the
// program's processes.
func closeStreams() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || unix.Dup3(null, fd, unix.O_CLOEXEC) != nil {
			unix.Close(fd)
		}
	}
}

// released returns a channel that is closed when the server closes its end, or
// dies.
func released(orders io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		io.Copy(io.Discard, orders)
	}()
	return gone
}
