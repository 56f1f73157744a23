package web

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// TestBodiesAreBounded: what all requests hold together is bounded, whether
// they are still being read or are being answered, and short ones always get
// through.
func TestBodiesAreBounded(t *testing.T) {
	b := newBudget(largeBodyBytes, largeBodyBytes)
	const message = `{"method":"ping"}`
	long := append([]byte(message), bytes.Repeat([]byte(" "), jsonrpc.MaxMessageBytes-len(message))...)
	read := func(body io.Reader) (status int, release func()) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/mcp", body)
		_, _, release, ok := readMessage(b, w, r)
		if !ok {
			return w.Code, func() {}
		}
		return http.StatusOK, release
	}
	// Two that are being read, and two that are being answered.
	var feeds []*io.PipeWriter
	ended := make(chan int, 2)
	for range 2 {
		body, feed := io.Pipe()
		feeds = append(feeds, feed)
		go func() {
			status, release := read(body)
			release()
			ended <- status
		}()
		if _, err := feed.Write(long[:jsonrpc.MaxMessageBytes-1]); err != nil {
			t.Fatal(err)
		}
	}
	var releases []func()
	for range 2 {
		status, release := read(bytes.NewReader(long[:jsonrpc.MaxMessageBytes*3/4]))
		if releases = append(releases, release); status != http.StatusOK {
			t.Fatalf("within the bound: %d", status)
		}
	}
	if status, _ := read(bytes.NewReader(long)); status != http.StatusServiceUnavailable {
		t.Errorf("beyond the bound: %d", status)
	}
	if status, _ := read(bytes.NewReader(long[:smallBodyBytes-1])); status != http.StatusOK {
		t.Errorf("a short one: %d", status)
	}
	for _, release := range releases {
		release()
	}
	for _, feed := range feeds {
		feed.Close()
		if status := <-ended; status != http.StatusOK {
			t.Errorf("one that ended: %d", status)
		}
	}
	if b.held != 0 {
		t.Errorf("in the end %d bytes are held", b.held)
	}
}
