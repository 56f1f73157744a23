// Package queue bounds how many runs a backend has at once, and lets callers
// take turns.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// ErrBusy means that so many runs wait already that one more would wait too
// long.
var ErrBusy = errors.New("too many runs are waiting")

// Defaults of [Options].
const (
	defaultRunsPerProcessor = 2
	minDefaultRunning       = 4
	defaultWaiting          = 1024
)

// positionInterval is the time between two looks at how far a run has come in
// the queue.
const positionInterval = 250 * time.Millisecond

// Options configure a [Queue]. The zero value is ready to use.
type Options struct {
	// Running is how many runs there are at once. If zero, 2 for
	// each processor, at least 4.
	Running int
	// Waiting is how many more may wait, of all callers. If zero, 1024.
	Waiting int
}

// Queue is a [sandbox.Backend] that bounds how many runs another one has at once. The
// others wait, and start in turns: one of each [sandbox.Spec.Caller], so that no one
// has to wait for all that somebody else has asked for. Where no more may wait,
// one that asks for less takes the place of the last run of the caller of whom
// most wait.
//
// While a run waits, its Spec.Progress is told how many start before it. Time
// that it waits does not count for its timeout.
type Queue struct {
	backend sandbox.Backend
	options Options
	closed  chan struct{}

	mu      sync.Mutex
	closing bool
	running int
	waiting int
	lines   []*line // of callers who wait, whose turn is next first
}

// line is what one caller waits for, first come first.
type line struct {
	caller  string
	tickets []ticket
}

// ticket receives nil when its holder may run, or why it may not. It is sent
// one value, when it is taken out of its line.
type ticket chan error

var _ sandbox.Backend = (*Queue)(nil)

// New puts a queue before a backend, which it closes when it is closed.
func New(backend sandbox.Backend, options Options) *Queue {
	if options.Running <= 0 {
		options.Running = max(minDefaultRunning, defaultRunsPerProcessor*runtime.GOMAXPROCS(0))
	}
	if options.Waiting <= 0 {
		options.Waiting = defaultWaiting
	}
	return &Queue{backend: backend, options: options, closed: make(chan struct{})}
}

// Info describes the backend.
func (q *Queue) Info() sandbox.Info { return q.backend.Info() }

// Run implements [sandbox.Backend]. The error may wrap [ErrBusy] too.
func (q *Queue) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	switch err := q.enter(ctx, spec); {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return sandbox.Result{Status: sandbox.Canceled, ExitCode: -1, Info: q.Info()}, nil
	case err != nil:
		return sandbox.Result{}, err
	}
	defer q.leave()
	return q.backend.Run(ctx, spec)
}

// Load returns how many runs there are now, and how many wait.
func (q *Queue) Load() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiting
}

// Close ends what waits and what runs.
func (q *Queue) Close() error {
	q.mu.Lock()
	first := !q.closing
	q.closing = true
	q.mu.Unlock()
	if first {
		close(q.closed)
	}
	return q.backend.Close()
}

// enter returns when the run may start.
func (q *Queue) enter(ctx context.Context, spec sandbox.Spec) error {
	mine, err := q.draw(spec.Caller, spec.NoWait)
	if err != nil || mine == nil {
		return err
	}
	if spec.Progress == nil {
		spec.Progress = func(string) {}
	}
	look := time.NewTicker(positionInterval)
	defer look.Stop()
	for told := -1; ; {
		if before := q.before(spec.Caller, mine); before != told {
			told = before
			spec.Progress(waitingLine(before))
		}
		select {
		case err := <-mine:
			return err
		case <-ctx.Done():
			q.giveUp(spec.Caller, mine)
			return ctx.Err()
		case <-q.closed:
			q.giveUp(spec.Caller, mine)
			return errQueueClosed
		case <-look.C:
		}
	}
}

var errQueueClosed = fmt.Errorf("%w: the server is shutting down", sandbox.ErrUnavailable)

func waitingLine(before int) string {
	switch before {
	case 0:
		return "waiting for a run to end: next in the queue"
	case 1:
		return "waiting for a run to end: 1 other starts before"
	default:
		return fmt.Sprintf("waiting for a run to end: %d others start before", before)
	}
}

// draw takes a place to run at once, without a ticket, or one in the queue.
func (q *Queue) draw(caller string, noWait bool) (ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closing:
		return nil, errQueueClosed
	case q.running < q.options.Running: // so none waits
		q.running++
		return nil, nil
	case noWait, q.waiting >= q.options.Waiting && !q.displace(caller):
		return nil, fmt.Errorf("%w: %d", ErrBusy, q.waiting)
	}
	mine := make(ticket, 1)
	q.waiting++
	if i := q.line(caller); i >= 0 {
		q.lines[i].tickets = append(q.lines[i].tickets, mine)
	} else {
		q.lines = append(q.lines, &line{caller, []ticket{mine}})
	}
	return mine, nil
}

// displace refuses the last run of the caller of whom most wait, where it has
// more waiting than this one would have. It reports whether there is room then.
// The lock is held.
func (q *Queue) displace(caller string) bool {
	mine := 1
	if i := q.line(caller); i >= 0 {
		mine += len(q.lines[i].tickets)
	}
	most := slices.MaxFunc(q.lines, func(a, b *line) int { return cmp.Compare(len(a.tickets), len(b.tickets)) })
	last := len(most.tickets) - 1
	if last+1 <= mine {
		return false
	}
	most.tickets[last] <- fmt.Errorf("%w: %d, most of them of this caller", ErrBusy, q.waiting)
	most.tickets = most.tickets[:last]
	q.waiting--
	return true
}

// line returns the index of a caller's line, or -1. The lock is held.
func (q *Queue) line(caller string) int {
	return slices.IndexFunc(q.lines, func(l *line) bool { return l.caller == caller })
}

// before counts the runs whose turn comes before that of a ticket.
func (q *Queue) before(caller string, mine ticket) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, rounds := q.line(caller), -1
	if at >= 0 {
		rounds = slices.Index(q.lines[at].tickets, mine)
	}
	if rounds < 0 {
		return 0 // it is called
	}
	count := 0
	for i, l := range q.lines {
		turns := rounds
		if i < at {
			turns++ // before the last round, too
		}
		count += min(turns, len(l.tickets))
	}
	return count
}

// leave makes room for the next run.
func (q *Queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.call()
}

// call lets the next run start, if there is room. The lock is held.
func (q *Queue) call() {
	if len(q.lines) == 0 || q.running >= q.options.Running {
		return
	}
	next := q.lines[0]
	q.lines = q.lines[1:]
	next.tickets[0] <- nil
	next.tickets = next.tickets[1:]
	q.running++
	q.waiting--
	if len(next.tickets) > 0 {
		q.lines = append(q.lines, next)
	}
}

// giveUp returns a ticket, and the place to run if it was called meanwhile.
func (q *Queue) giveUp(caller string, mine ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case err := <-mine:
		if err == nil {
			q.running--
			q.call()
		}
		return
	default: // it is in its line
	}
	at := q.line(caller)
	l := q.lines[at]
	i := slices.Index(l.tickets, mine)
	q.waiting--
	if l.tickets = slices.Delete(l.tickets, i, i+1); len(l.tickets) == 0 {
		q.lines = slices.Delete(q.lines, at, at+1)
	}
}
