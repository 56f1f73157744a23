package reaper

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// exitGrace is how long the processes that a program leaves behind may go
	// on after its end: enough for the "tee" of "exec > >(tee log)", also on
	// a busy machine.
	exitGrace = 250 * time.Millisecond
	// killInterval is the time between two rounds of killing.
	killInterval = 2 * time.Millisecond
	// measureInterval is the time between two questions to Exceeded.
	measureInterval = 50 * time.Millisecond
)

// Watch says what ends a program, besides itself.
type Watch struct {
	// PID is the program's. All other children of this process are its too, but
	// for Other, if that is not 0, of whose end this process is told nothing.
	PID, Other int
	// Released is closed when the server lets go.
	Released <-chan struct{}
	// KillAll kills every process below this one, or as many as it finds.
	KillAll func()
	// Timeout is after how long everything is killed; 0 for never.
	Timeout time.Duration
	// Exceeded, if set, reports every now and then whether everything is to be
	// killed for what it uses.
	Exceeded func() bool
	// NoneLeft, if set, is called at once when no child is left, on a goroutine
	// that has taken no memory since the last one was.
	NoneLeft func()
	// GiveUp is how long what does not die, such as processes of another user,
	// is killed again; 0 for as long as it takes. While some die, that is up to
	// ten times as long.
	GiveUp time.Duration
}

// Outcome is what came of a [Watch].
type Outcome struct {
	Ending
	OverQuota bool // Exceeded was why it was killed
	Left      bool // processes are left that could not be killed
}

// watcher is a Watch that goes on.
type watcher struct {
	Watch
	outcome Outcome
	ended   bool
	died    bool // some did, since it was last asked whether to give up

	expired, measured, grace, round, giveUp <-chan time.Time

	latest time.Time // to give up
}

// Wait returns when no child is left, or none that can be killed.
func (w Watch) Wait() Outcome {
	watcher := watcher{Watch: w}
	if w.Timeout > 0 {
		watcher.expired = time.After(w.Timeout)
	}
	if w.Exceeded != nil {
		watcher.measured = time.After(measureInterval)
	}
	for deaths := deaths(w.NoneLeft); watcher.next(deaths); {
	}
	watcher.outcome.CPUTime = cpuTime()
	return watcher.outcome
}

// next handles what happens next and reports whether something can follow.
func (w *watcher) next(deaths <-chan death) bool {
	select {
	case d, alive := <-deaths:
		w.died = true
		if alive && d.pid == w.PID {
			w.end(d.status)
		}
		return alive
	case <-w.giveUp:
		if w.died && time.Now().Before(w.latest) {
			w.died, w.giveUp = false, time.After(w.GiveUp)
			break
		}
		if !w.ended { // so that it does not pass for one that has ended well
			w.outcome.Signal = "SIGKILL"
		}
		w.outcome.Left = true
		return false
	case <-w.measured:
		if w.measured = time.After(measureInterval); !w.Exceeded() {
			return true
		}
		w.outcome.OverQuota = !w.ended
	case <-w.grace:
		if !w.outcome.Killed {
			w.outcome.LeftBehind, w.outcome.LeftBehindOmitted = leftBehind(w.Other)
		}
	case <-w.Released:
		w.Released = nil
	case <-w.expired:
	case <-w.round:
	}
	w.kill()
	return true
}

// end is called with the program's status.
func (w *watcher) end(status syscall.WaitStatus) {
	ending := EndingOf(status)
	w.outcome.Code, w.outcome.Signal, w.ended = ending.Code, ending.Signal, true
	w.grace = time.After(exitGrace)
}

// kill begins a round of killing, and sees to it that there is another.
func (w *watcher) kill() {
	w.outcome.Killed = w.outcome.Killed || !w.ended
	w.measured, w.grace = nil, nil
	if w.giveUp == nil && w.GiveUp > 0 {
		w.giveUp, w.latest = time.After(w.GiveUp), time.Now().Add(10*w.GiveUp)
	}
	w.KillAll()
	w.round = time.After(killInterval)
}

type death struct {
	pid    int
	status syscall.WaitStatus
}

// deaths reaps every child. The channel is closed when none is left.
func deaths(noneLeft func()) <-chan death {
	all := make(chan death)
	go func() {
		defer close(all)
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, 0, nil)
			if noneLeft != nil && !childLeft() {
				noneLeft()
				noneLeft = nil
			}
			if err == nil {
				all <- death{pid, syscall.WaitStatus(status)}
			} else if err != unix.EINTR {
				return // ECHILD
			}
		}
	}()
	return all
}

// childLeft reports whether this process has a child, dead ones included.
func childLeft() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != unix.ECHILD
}

// cpuTime is that of all children that were reaped.
func cpuTime() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
