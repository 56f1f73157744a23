package web

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
)

// streamEnd is how long the rest of a stream that has ended may take to be
// taken by its client.
const streamEnd = time.Second

// eventStream is a response to which events are written from several sides,
// each in one call: answers, and what a client is to be told.
type eventStream struct {
	http.ResponseWriter

	mu    sync.Mutex
	once  sync.Once
	begun chan struct{} // closes when the first event, or the header, is out
}

func newEventStream(w http.ResponseWriter) *eventStream {
	return &eventStream{ResponseWriter: w, begun: make(chan struct{})}
}

// Unwrap is for [http.ResponseController].
func (s *eventStream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *eventStream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher].
func (s *eventStream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = http.NewResponseController(s.ResponseWriter).Flush()
	s.once.Do(func() { close(s.begun) })
}

// send writes a message as an event.
func (s *eventStream) send(message []byte) error {
	event := append(append([]byte("event: message\ndata: "), message...), "\n\n"...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ResponseWriter.Write(event); err != nil {
		return err
	}
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// carry writes the notifications of a client among what serve writes, from its
// first event on and until it returns or ctx ends. They are tagged unless tag
// is nil.
func (s *eventStream) carry(ctx context.Context, c *client.Client, tag any, serve func()) {
	defer s.endWith(ctx)()
	ctx, cancel := context.WithCancel(ctx)
	var draining sync.WaitGroup
	draining.Go(func() {
		select {
		case <-s.begun:
			c.Drain(ctx, func(n client.Notice) error {
				encoded, err := json.Marshal(n.Message(tag))
				if err != nil {
					return err
				}
				return s.send(encoded)
			})
		case <-ctx.Done():
		}
	})
	serve()
	cancel()
	draining.Wait()
}

// endWith bounds, until done is called, how long a client that does not read is
// waited for when ctx has ended.
func (s *eventStream) endWith(ctx context.Context) (done func()) {
	set := make(chan struct{})
	freed := context.AfterFunc(ctx, func() {
		defer close(set)
		hurry(s.ResponseWriter, streamEnd)
	})
	return func() {
		if !freed() {
			<-set // not after the connection has gone over to the next request
		}
	}
}
