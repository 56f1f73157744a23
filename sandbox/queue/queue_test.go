package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
)

// gate is a backend whose runs last until they are let go.
type gate struct {
	started chan string // Spec.Shell of each run that starts
	finish  chan struct{}

	mu     sync.Mutex
	most   int // at once
	inside int
	closed bool
}

func newGate() *gate { return &gate{started: make(chan string), finish: make(chan struct{})} }

func (g *gate) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	g.mu.Lock()
	g.inside++
	g.most = max(g.most, g.inside)
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.inside--
		g.mu.Unlock()
	}()
	g.started <- spec.Shell
	select {
	case <-g.finish:
		return sandbox.Result{Status: sandbox.Exited}, nil
	case <-ctx.Done():
		return sandbox.Result{Status: sandbox.Canceled}, nil
	}
}

func (g *gate) Info() sandbox.Info { return sandbox.Info{Backend: "gate"} }

func (g *gate) Close() error {
	g.closed = true
	return nil
}

// asked is a run that somebody wants.
type asked struct {
	name      string
	positions chan string
	cancel    context.CancelFunc
	done      chan error // of Run, once
	result    sandbox.Result
}

// ask asks for a run and returns when it has started or waits.
func ask(t *testing.T, q *queue.Queue, caller, name string) *asked {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a := &asked{name: name, positions: make(chan string, 1000), cancel: cancel, done: make(chan error, 1)}
	go func() {
		var err error
		a.result, err = q.Run(ctx, sandbox.Spec{Shell: name, Caller: caller, Progress: func(line string) { a.positions <- line }})
		a.done <- err
	}()
	t.Cleanup(cancel)
	return a
}

// waiting returns when the run has told its position.
func (a *asked) waiting(t *testing.T) string {
	t.Helper()
	return receive(t, a.positions)
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestQueueBoundsRuns(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 3})
	const runs = 20
	var all []*asked
	for i := range runs {
		all = append(all, ask(t, q, "", fmt.Sprint(i)))
	}
	for i := range runs {
		receive(t, g.started)
		if i >= 2 { // three are inside
			g.finish <- struct{}{}
		}
	}
	for range 2 {
		g.finish <- struct{}{}
	}
	for _, a := range all {
		if err := receive(t, a.done); err != nil || a.result.Status != sandbox.Exited {
			t.Errorf("run %s: %v, %v", a.name, a.result.Status, err)
		}
	}
	if g.most != 3 {
		t.Errorf("%d runs at once", g.most)
	}
}

// One caller asks for much, the others for little: each has its turn.
func TestQueueTakesTurns(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 1})
	first := ask(t, q, "greedy", "first")
	receive(t, g.started)
	positions := map[string]string{}
	var waiting []*asked
	for _, one := range [][2]string{
		{"greedy", "a1"}, {"greedy", "a2"}, {"greedy", "a3"}, {"modest", "b1"}, {"modest", "b2"}, {"late", "c1"},
	} {
		a := ask(t, q, one[0], one[1])
		positions[one[1]] = a.waiting(t)
		waiting = append(waiting, a)
	}
	wantPositions := map[string]string{
		"a1": "waiting for a run to end: next in the queue",
		"a2": "waiting for a run to end: 1 other starts before",
		"a3": "waiting for a run to end: 2 others start before",
		"b1": "waiting for a run to end: 1 other starts before",
		"b2": "waiting for a run to end: 3 others start before",
		"c1": "waiting for a run to end: 2 others start before",
	}
	if diff := cmp.Diff(wantPositions, positions); diff != "" {
		t.Errorf("positions when they asked (-want +got):\n%s", diff)
	}
	var order []string
	for range waiting {
		g.finish <- struct{}{}
		order = append(order, receive(t, g.started))
	}
	g.finish <- struct{}{}
	if diff := cmp.Diff([]string{"a1", "b1", "c1", "a2", "b2", "a3"}, order); diff != "" {
		t.Errorf("order of start (-want +got):\n%s", diff)
	}
	for _, a := range append(waiting, first) {
		if err := receive(t, a.done); err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
	}
}

func TestQueueTellsThatItMovesOn(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 1})
	ask(t, q, "", "first")
	receive(t, g.started)
	second := ask(t, q, "", "second")
	second.waiting(t)
	third := ask(t, q, "", "third")
	if got := third.waiting(t); got != "waiting for a run to end: 1 other starts before" {
		t.Errorf("at first: %q", got)
	}
	second.cancel()
	if err := receive(t, second.done); err != nil || second.result.Status != sandbox.Canceled || second.result.ExitCode != -1 {
		t.Errorf("canceled while it waited: %+v, %v", second.result, err)
	}
	if got := third.waiting(t); got != "waiting for a run to end: next in the queue" {
		t.Errorf("then: %q", got)
	}
}

// A run that is called and given up at the same moment keeps no place.
func TestQueueLosesNoPlace(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 2, Waiting: 1000})
	for range 200 {
		holder := ask(t, q, "a", "holder")
		receive(t, g.started)
		other := ask(t, q, "b", "other")
		receive(t, g.started)
		var given []*asked
		for i := range 4 {
			a := ask(t, q, fmt.Sprint(i%2), "given up")
			a.waiting(t)
			given = append(given, a)
		}
		go holder.cancel()
		go other.cancel()
		for _, a := range given {
			go a.cancel()
		}
		for ended := 0; ended < 6; {
			select {
			case <-g.started: // it was called first
			case <-holder.done:
				ended++
			case <-other.done:
				ended++
			case <-given[0].done:
				ended++
			case <-given[1].done:
				ended++
			case <-given[2].done:
				ended++
			case <-given[3].done:
				ended++
			}
		}
	}
	for range 2 {
		ask(t, q, "", "still room")
		receive(t, g.started)
	}
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 1, Waiting: 2})
	ask(t, q, "", "runs")
	receive(t, g.started)
	ask(t, q, "a", "waits").waiting(t)
	ask(t, q, "b", "waits").waiting(t)
	if err := receive(t, ask(t, q, "c", "one more").done); !errors.Is(err, queue.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

func TestQueueWithoutWaiting(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 1})
	ask(t, q, "", "runs")
	receive(t, g.started)
	if _, err := q.Run(t.Context(), sandbox.Spec{NoWait: true}); !errors.Is(err, queue.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// One caller has filled the queue; the others have their share of it all the
// same, at that caller's cost.
func TestQueueSharesPlaces(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 1, Waiting: 4})
	ask(t, q, "greedy", "runs")
	receive(t, g.started)
	var greedy []*asked
	for i := range 4 {
		a := ask(t, q, "greedy", fmt.Sprintf("a%d", i))
		a.waiting(t)
		greedy = append(greedy, a)
	}
	refused := func(a *asked) {
		t.Helper()
		if err := receive(t, a.done); !errors.Is(err, queue.ErrBusy) {
			t.Errorf("%s: %v", a.name, err)
		}
	}
	refused(ask(t, q, "greedy", "one more"))
	b1 := ask(t, q, "b", "b1")
	b1.waiting(t)
	refused(greedy[3])
	ask(t, q, "b", "b2").waiting(t)
	refused(greedy[2])
	refused(ask(t, q, "b", "more than its share"))
	refused(ask(t, q, "greedy", "more than its share"))
	ask(t, q, "c", "c1").waiting(t)
	b1.cancel() // or it was the one whose place was taken
	var order []string
	for range 3 {
		g.finish <- struct{}{}
		order = append(order, receive(t, g.started))
	}
	if slices.Sort(order); !slices.Contains(order, "a0") || !slices.Contains(order, "c1") {
		t.Errorf("%q have run", order)
	}
}

func TestQueueCloses(t *testing.T) {
	t.Parallel()
	g := newGate()
	q := queue.New(g, queue.Options{Running: 1})
	runs := ask(t, q, "", "runs")
	receive(t, g.started)
	waits := ask(t, q, "", "waits")
	waits.waiting(t)
	if err := errors.Join(q.Close(), q.Close()); err != nil || !g.closed {
		t.Errorf("Close: %v", err)
	}
	for _, a := range []*asked{waits, ask(t, q, "", "late")} {
		if err := receive(t, a.done); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%s: %v", a.name, err)
		}
	}
	runs.cancel()
}
