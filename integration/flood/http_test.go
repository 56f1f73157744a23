package flood

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// clients is how many requests are under way at once over HTTP.
const clients = 128

// web is clients over streamable HTTP: in the legacy era several sessions.
type web struct {
	*program.Process
	env      []string
	era      era
	url      string
	http     *http.Client
	sessions []string
	answers  *answers
	// pinged closes, and is renewed, when a ping was answered.
	mu     sync.Mutex
	pinged chan struct{}
	pings  int // sent so far
}

func serve(t testing.TB, e era) *web {
	t.Helper()
	root, env := newRoot(t), program.Home(t)
	w := &web{env: env, era: e, answers: newAnswers(), pinged: make(chan struct{}), sessions: []string{""}}
	w.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	w.Process, w.url = program.Serve(t, env, append(flags, root)...)
	if e.meta == nil {
		w.sessions = nil
		for range 4 {
			response, err := w.post(t.Context(), "", "initialize", "", e.message(t, "hello", "initialize", initialize))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			w.sessions = append(w.sessions, response.Header.Get("Mcp-Session-Id"))
		}
	}
	return w
}

// post sends a message. The caller closes the response's body.
func (w *web) post(ctx context.Context, session, method, name string, message []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if w.era.meta != nil {
		request.Header.Set("MCP-Protocol-Version", "2026-07-28")
		request.Header.Set("Mcp-Method", method)
		if name != "" {
			request.Header.Set("Mcp-Name", name)
		}
	}
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	return w.http.Do(request)
}

// ask sends a request and notes its answers. An error tells that the client
// went away.
func (w *web) ask(t testing.TB, ctx context.Context, session string, id any, one ask) error {
	name, _ := one.params["name"].(string)
	if uri, ok := one.params["uri"].(string); ok {
		name = uri
	}
	response, err := w.post(ctx, session, one.method, name, w.era.message(t, id, one.method, one.params))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			line = data
		}
		if bytes.HasPrefix(line, []byte("{")) {
			err = errors.Join(err, w.answers.take(line))
		}
	}
	return err
}

// ping pings until stop closes, and returns how long each took.
func (w *web) ping(t testing.TB, stop <-chan struct{}) (took []time.Duration) {
	for {
		w.pings++
		id := fmt.Sprintf("ping-%d", w.pings)
		begun := time.Now()
		err := w.ask(t, t.Context(), w.sessions[0], id, ask{method: w.era.ping})
		took = append(took, time.Since(begun))
		w.mu.Lock()
		close(w.pinged)
		if count, _ := w.answers.of(fmt.Sprintf("%q", id)); err != nil || count != 1 {
			t.Errorf("%s has %d answers, %v", id, count, err)
			w.mu.Unlock()
			return took // whoever waits for the next one waits no more
		}
		w.pinged = make(chan struct{})
		w.mu.Unlock()
		select {
		case <-stop:
			return took
		default:
		}
	}
}

// nextPing closes when the ping after this one is answered.
func (w *web) nextPing() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pinged
}

// request asks one thing, and takes it back as the era does: by a message, or
// by going away.
func (w *web) request(t testing.TB, id int, one ask) {
	session := w.sessions[id%len(w.sessions)]
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var taking sync.WaitGroup
	defer taking.Wait()
	answered := make(chan struct{})
	defer close(answered)
	if one.taken {
		sent := make(chan struct{})
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }})
		taking.Go(func() {
			select {
			case <-sent:
				w.take(t, session, id, leave, answered)
			case <-answered:
			}
		})
	}
	if err := w.ask(t, ctx, session, id, one); err != nil && ctx.Err() == nil {
		t.Errorf("request %d: %v", id, err)
	}
}

// take takes a request back. A cancellation that overtakes its request is
// lost, so it is sent until there is an answer.
func (w *web) take(t testing.TB, session string, id int, leave func(), answered <-chan struct{}) {
	for {
		select {
		case <-w.nextPing():
		case <-answered:
			return
		}
		if w.era.meta != nil {
			leave()
			return
		}
		response, err := w.post(t.Context(), session, "notifications/cancelled", "",
			w.era.message(t, nil, "notifications/cancelled", map[string]any{"requestId": id}))
		if err != nil {
			t.Errorf("cancellation of %d: %v", id, err)
			return
		}
		response.Body.Close()
	}
}

// flood asks everything, much of it at once, and waits for the answers.
func (w *web) flood(t testing.TB, all []ask) (pings []time.Duration) {
	t.Helper()
	stop := make(chan struct{})
	var pinging, asking sync.WaitGroup
	pinging.Go(func() { pings = w.ping(t, stop) })
	ids := make(chan int)
	for range clients {
		asking.Go(func() {
			for id := range ids {
				w.request(t, id, all[id])
			}
		})
	}
	for id := range all {
		ids <- id
	}
	close(ids)
	asking.Wait()
	close(stop)
	pinging.Wait()
	return pings
}

// TestHTTP floods streamable HTTP.
func TestHTTP(t *testing.T) {
	for _, e := range []era{legacy, modern} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if e.name != modern.name {
				testenv.Slow(t, "floods once more in the other era")
			}
			w, marker := serve(t, e), newMarker()
			all := asks(t, marker)
			w.ping(t, closed())
			files := filesBefore(t, w.Process)
			w.flood(t, all)
			w.http.CloseIdleConnections()
			checkSettled(t, w.Process, marker, files)
			w.answers.check(t, all, e.meta == nil)
			if err := w.Cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			checkExited(t, w.Process, w.env)
		})
	}
}

// TestHTTPGoroutines: after a flood no request is being served.
func TestHTTPGoroutines(t *testing.T) {
	testenv.Slow(t, "floods once more to count goroutines")
	t.Parallel()
	w, marker := serve(t, modern), newMarker()
	w.flood(t, asks(t, marker))
	program.Eventually(t, "all programs are gone", func() bool { return !running(t, marker) })
	w.ping(t, closed())
	checkGoroutines(t, w.Process)
}

func BenchmarkHTTP(b *testing.B) {
	for _, e := range []era{legacy, modern} {
		b.Run(e.name, func(b *testing.B) {
			var pings []time.Duration
			for b.Loop() {
				w := serve(b, e)
				pings = append(pings, w.flood(b, asks(b, newMarker()))...)
				w.Stop(b)
			}
			report(b, pings)
		})
	}
}
