package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
)

// streamEnd is how long the rest of a stream that has ended may take to be
// taken by its client.
const streamEnd = time.Second

// messageEvent is what an event with a message begins with.
const messageEvent = "event: message\ndata: "

// eventStream is a response to which events are written from several sides,
// each in one call: answers, and notifications.
type eventStream struct {
	http.ResponseWriter
	// listens says that the response is that to a request to listen.
	listens bool

	mu    sync.Mutex
	once  sync.Once
	begun chan struct{} // closes when the first event, or the header, is out
}

func newEventStream(w http.ResponseWriter) *eventStream {
	return &eventStream{ResponseWriter: w, begun: make(chan struct{})}
}

// Unwrap is for [http.ResponseController].
func (s *eventStream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Write implements [http.ResponseWriter].
func (s *eventStream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listens {
		s.listens = false
		if _, err := s.ResponseWriter.Write(missingAcknowledgement(p)); err != nil {
			return 0, err
		}
	}
	return s.ResponseWriter.Write(p)
}

// missingAcknowledgement returns the event that should have come before the
// first one of a request to listen, or nothing. It has to be acknowledged
// before it ends (MCP 2026-07-28). Where a client asks only for what the server
// never notifies of, the library acknowledges and ends at once, and then the
// end may overtake the acknowledgement, which is lost. To be deleted when the
// library (as of v1.2.1) writes both in order.
func missingAcknowledgement(first []byte) []byte {
	message, isEvent := bytes.CutPrefix(first, []byte(messageEvent))
	var response struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if !isEvent || json.Unmarshal(message, &response) != nil || response.Result == nil {
		return nil
	}
	return fmt.Appendf(nil, `%s{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s},"notifications":{}}}`+"\n\n",
		messageEvent, mcp.MethodNotificationSubscriptionsAcknowledged, mcp.MetaKeySubscriptionID, response.ID)
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
	event := append(append([]byte(messageEvent), message...), "\n\n"...)
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
