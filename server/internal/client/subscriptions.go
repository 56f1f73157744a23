package client

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// What subscriptions may cost, so that a client that retries in a loop with
// ever new URIs costs little. What is more gets no updates.
const (
	// maxSubscriptions bounds the URIs of one client.
	maxSubscriptions = 10_000
	// maxSubscribedBytes bounds the length of one client's URIs together.
	maxSubscribedBytes = 4 << 20
	// maxSubscribedBytesOfAll bounds that of all clients.
	maxSubscribedBytesOfAll = 64 << 20
	// maxListeners bounds the clients that can hear of changes: sessions,
	// and open requests to listen. Sessions over HTTP have their own, lower bound.
	maxListeners = 2000
)

// listener is a client that hears of changes: a session, or one request to
// listen (from protocol version 2026-07-28 on).
type listener struct {
	// hears reports whether it is notified of changes of a list.
	hears func(method string) bool
	uris  map[string]struct{} // of the resources that it subscribed to
	bytes int                 // the length of uris
}

// Subscriptions knows who wants to hear of what. The library accepts
// subscriptions and leaves their keeping to its user.
type Subscriptions struct {
	mu        sync.Mutex
	listeners map[*Client]*listener
	bytes     int
}

// Listen lets a request to listen hear of changes, until it leaves. It reports
// whether there is room for it.
func (s *Subscriptions) Listen(head jsonrpc.Message) (_ *Client, ok bool) {
	if !s.Room() {
		return nil, false
	}
	var params mcp.SubscriptionsListenParams
	_ = json.Unmarshal(head.Params, &params) // the library refuses what is wrong
	hears := map[string]bool{                // tools never change
		mcp.MethodNotificationPromptsListChanged:   params.Notifications.PromptsListChanged,
		mcp.MethodNotificationResourcesListChanged: params.Notifications.ResourcesListChanged,
	}
	c := New()
	s.Join(c, func(method string) bool { return hears[method] })
	return c, true
}

// Room reports whether there is room for one more that hears of changes.
func (s *Subscriptions) Room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners) < maxListeners
}

// Join lets a client hear of changes, until it leaves.
func (s *Subscriptions) Join(c *Client, hears func(method string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == nil {
		s.listeners = map[*Client]*listener{}
	}
	s.listeners[c] = &listener{hears: hears, uris: map[string]struct{}{}}
}

// Leave ends all that a client subscribed to.
func (s *Subscriptions) Leave(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who := s.listeners[c]; who != nil {
		s.bytes -= who.bytes
		delete(s.listeners, c)
	}
}

// Add subscribes the client of a request to URIs, and returns for how many
// there was no room.
func (s *Subscriptions) Add(ctx context.Context, uris ...string) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := s.listeners[From(ctx)]
	if who == nil {
		return 0
	}
	for _, uri := range uris {
		if _, ok := who.uris[uri]; ok {
			continue
		}
		if len(who.uris) >= maxSubscriptions || who.bytes+len(uri) > maxSubscribedBytes || s.bytes+len(uri) > maxSubscribedBytesOfAll {
			refused++
			continue
		}
		who.uris[uri] = struct{}{}
		who.bytes += len(uri)
		s.bytes += len(uri)
	}
	return refused
}

// Remove ends a subscription of the client of a request.
func (s *Subscriptions) Remove(ctx context.Context, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := From(ctx); s.listeners[c] != nil {
		s.cut(s.listeners[c], uri)
		c.drop(Updated(uri))
	}
}

// cut ends one subscription; the caller holds the lock.
func (s *Subscriptions) cut(who *listener, uri string) {
	if _, ok := who.uris[uri]; ok {
		delete(who.uris, uri)
		who.bytes -= len(uri)
		s.bytes -= len(uri)
	}
}

// Forget ends all subscriptions to a URI.
func (s *Subscriptions) Forget(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, who := range s.listeners {
		s.cut(who, uri)
	}
}

// Wanted returns the clients and the URIs they subscribed to, sorted.
func (s *Subscriptions) Wanted() map[*Client][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := make(map[*Client][]string, len(s.listeners))
	for c, who := range s.listeners {
		wanted[c] = slices.Sorted(maps.Keys(who.uris))
	}
	return wanted
}

// ListChanged notifies who hears of a list that it has changed, and returns how
// many these are.
func (s *Subscriptions) ListChanged(method string) (clients int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, who := range s.listeners {
		if who.hears(method) {
			c.Notify(Notice{Method: method})
			clients++
		}
	}
	return clients
}
