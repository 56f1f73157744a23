package flood

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// line is a client over standard input and output.
type line struct {
	*program.Process
	env     []string
	era     era
	answers *answers
	read    chan error // sent when the output has ended

	mu    sync.Mutex // of input
	pings int        // sent so far
}

// dial starts a server, and shakes hands where the era does.
func dial(t testing.TB, e era) *line {
	t.Helper()
	root, env := newRoot(t), program.Home(t)
	l := &line{env: env, era: e, answers: newAnswers(), read: make(chan error, 1)}
	l.Process = program.Start(t, env, program.Binary(t), append(flags, root)...)
	go func() { l.read <- l.listen() }()
	if e.meta == nil {
		l.send(t, e.message(t, "hello", "initialize", initialize))
		l.await(t, `"hello"`)
		l.send(t, e.message(t, nil, "notifications/initialized", nil))
	}
	return l
}

func (l *line) listen() error {
	for lines := bufio.NewReader(l.Stdout); ; {
		message, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = l.answers.take(message)
		}
		if err != nil {
			return err
		}
	}
}

func (l *line) send(t testing.TB, message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.Stdin.Write(append(message, '\n')); err != nil {
		t.Error(err)
	}
}

// await waits for the answer to a request.
func (l *line) await(t testing.TB, id string) {
	t.Helper()
	deadline := time.After(program.Patience)
	for {
		count, changed := l.answers.of(id)
		if count > 0 {
			return
		}
		select {
		case <-changed:
		case <-l.Exited:
			t.Errorf("the server ended before it answered %s", id)
			return
		case <-deadline:
			t.Errorf("no answer came to %s", id)
			_ = l.Cmd.Process.Kill() // or what is sent may not end
			return
		}
	}
}

// ping pings until stop closes, and returns how long each took.
func (l *line) ping(t testing.TB, stop <-chan struct{}) (took []time.Duration) {
	for {
		l.pings++
		id := fmt.Sprintf("ping-%d", l.pings)
		begun := time.Now()
		l.send(t, l.era.message(t, id, l.era.ping, nil))
		l.await(t, fmt.Sprintf("%q", id))
		took = append(took, time.Since(begun))
		select {
		case <-stop:
			return took
		default:
		}
		if t.Failed() {
			return took
		}
	}
}

// flood asks everything at once, takes back what is to be taken back, and
// waits for the answers to the rest.
func (l *line) flood(t testing.TB, all []ask) (pings []time.Duration) {
	t.Helper()
	stop := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() { pings = l.ping(t, stop) })
	const behind = 300 // requests, after which one is taken back
	for id := range len(all) + behind {
		if id < len(all) {
			l.send(t, l.era.message(t, id, all[id].method, all[id].params))
		}
		if old := id - behind; old >= 0 && all[old].taken {
			l.send(t, l.era.message(t, nil, "notifications/cancelled", map[string]any{"requestId": old}))
		}
	}
	for id, one := range all {
		if !one.taken {
			l.await(t, fmt.Sprint(id))
		}
	}
	close(stop)
	pinging.Wait()
	return pings
}

// TestStdio floods standard input.
func TestStdio(t *testing.T) {
	for _, e := range []era{legacy, modern} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if e.name != legacy.name {
				testenv.Slow(t, "floods once more in the other era")
			}
			l, marker := dial(t, e), newMarker()
			all := asks(t, marker)
			l.ping(t, closed())
			files := filesBefore(t, l.Process)
			l.flood(t, all)
			checkSettled(t, l.Process, marker, files)
			l.Stdin.Close()
			if err := <-l.read; err != nil {
				t.Error(err)
			}
			l.answers.check(t, all, false)
			checkExited(t, l.Process, l.env)
		})
	}
}

// TestStdioEnds ends the input in the middle of a flood.
func TestStdioEnds(t *testing.T) {
	t.Parallel()
	l, marker := dial(t, legacy), newMarker()
	for id, one := range asks(t, marker) {
		l.send(t, l.era.message(t, id, one.method, one.params))
	}
	l.Stdin.Close()
	l.ExitCode(t) // whatever it is
	program.Eventually(t, "all programs are gone", func() bool { return !running(t, marker) })
}

// TestStdioGoroutines: after a flood no request is being served.
func TestStdioGoroutines(t *testing.T) {
	testenv.Slow(t, "floods once more to count goroutines")
	t.Parallel()
	l, marker := dial(t, legacy), newMarker()
	l.flood(t, asks(t, marker))
	program.Eventually(t, "all programs are gone", func() bool { return !running(t, marker) })
	l.ping(t, closed())
	checkGoroutines(t, l.Process)
}

func BenchmarkStdio(b *testing.B) {
	for _, e := range []era{legacy, modern} {
		b.Run(e.name, func(b *testing.B) {
			var pings []time.Duration
			for b.Loop() {
				l := dial(b, e)
				pings = append(pings, l.flood(b, asks(b, newMarker()))...)
				l.Stdin.Close()
				l.ExitCode(b)
			}
			report(b, pings)
		})
	}
}

func closed() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// checkGoroutines has a server print its goroutines, which ends it.
func checkGoroutines(t testing.TB, p *program.Process) {
	t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	p.ExitCode(t)
	checkDump(t, p.Stderr.String())
}
