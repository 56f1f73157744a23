package client

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
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
	// maxListeners bounds the clients that can be told of changes: sessions,
	// and open requests to listen. Sessions over HTTP have their own, lower bound.
	maxListeners = 2000
)

// listener is a client that hears of changes: a session, or over HTTP one
// request to listen (from protocol version 2026-07-28 on).
type listener struct {
	// hears reports whether it is told of changes of a list.
	hears func(method string) bool
	// uris are the resources that it subscribed to, by the id of the request
	// to listen that asked, or empty.
	uris  map[string]map[string]struct{}
	count int
	bytes int
}

// Subscriptions knows who wants to hear of what. The library accepts
// subscriptions and leaves their keeping to its user.
type Subscriptions struct {
	mu        sync.Mutex
	listeners map[*Client]*listener
	bytes     int
}

// Room reports whether there is room for one more that hears of changes.
func (s *Subscriptions) Room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners) < maxListeners
}

// Join lets a client hear of changes, until it leaves.
func (s *Subscriptions) Join(due *Client, hears func(method string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == nil {
		s.listeners = map[*Client]*listener{}
	}
	s.listeners[due] = &listener{hears: hears, uris: map[string]map[string]struct{}{}}
}

// Leave ends all that a client subscribed to.
func (s *Subscriptions) Leave(due *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who := s.listeners[due]; who != nil {
		s.bytes -= who.bytes
		delete(s.listeners, due)
	}
}

// of returns the client of a request, or nil; the caller holds the lock.
func (s *Subscriptions) of(ctx context.Context) (*Client, *listener) {
	due := From(ctx)
	return due, s.listeners[due]
}

// Add notes URIs for the client of a request, and returns for how many there
// was no room.
func (s *Subscriptions) Add(ctx context.Context, listen string, uris ...string) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, who := s.of(ctx)
	if who == nil {
		return 0
	}
	for _, uri := range uris {
		if _, ok := who.uris[listen][uri]; ok {
			continue
		}
		if who.count >= maxSubscriptions || who.bytes+len(uri) > maxSubscribedBytes || s.bytes+len(uri) > maxSubscribedBytesOfAll {
			refused++
			continue
		}
		if who.uris[listen] == nil {
			who.uris[listen] = map[string]struct{}{}
		}
		who.uris[listen][uri] = struct{}{}
		who.count++
		who.bytes += len(uri)
		s.bytes += len(uri)
	}
	return refused
}

// Remove ends subscriptions of the client of a request.
func (s *Subscriptions) Remove(ctx context.Context, listen string, uris ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if due, who := s.of(ctx); who != nil {
		for _, uri := range uris {
			s.cut(who, listen, uri)
			if !who.wants(uri) {
				due.drop(Updated(uri))
			}
		}
	}
}

// cut ends one subscription; the caller holds the lock.
func (s *Subscriptions) cut(who *listener, listen, uri string) {
	if _, ok := who.uris[listen][uri]; !ok {
		return
	}
	delete(who.uris[listen], uri)
	if len(who.uris[listen]) == 0 {
		delete(who.uris, listen)
	}
	who.count--
	who.bytes -= len(uri)
	s.bytes -= len(uri)
}

// wants reports whether any of the client's requests subscribed to a URI.
func (l *listener) wants(uri string) bool {
	for _, uris := range l.uris {
		if _, ok := uris[uri]; ok {
			return true
		}
	}
	return false
}

// Forget ends all subscriptions to a URI.
func (s *Subscriptions) Forget(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, who := range s.listeners {
		for listen := range who.uris {
			s.cut(who, listen, uri)
		}
	}
}

// Wanted returns the clients and the URIs they subscribed to, sorted, each
// once.
func (s *Subscriptions) Wanted() map[*Client][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := make(map[*Client][]string, len(s.listeners))
	for due, who := range s.listeners {
		var all []string
		for _, uris := range who.uris {
			for uri := range uris {
				all = append(all, uri)
			}
		}
		slices.Sort(all)
		wanted[due] = slices.Compact(all)
	}
	return wanted
}

// ListChanged tells who hears of a list that it has changed.
func (s *Subscriptions) ListChanged(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for due, who := range s.listeners {
		if who.hears(method) {
			due.Notify(Notice{Method: method})
		}
	}
}

// Listed returns whether a request to listen asked for changes of a list.
func Listed(filter mcp.SubscriptionFilter) func(method string) bool {
	return func(method string) bool {
		switch method {
		case mcp.MethodNotificationToolsListChanged:
			return filter.ToolsListChanged
		case mcp.MethodNotificationPromptsListChanged:
			return filter.PromptsListChanged
		case mcp.MethodNotificationResourcesListChanged:
			return filter.ResourcesListChanged
		}
		return false
	}
}
