package server

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// listeners are the subscriptions/listen requests of a stdio client that are
// open. From protocol version 2026-07-28 on a client gets the notifications
// that it asked for, each tagged with the request that asked; the library
// does so over HTTP, but sends everything, untagged, to a stdio client.
type listeners struct {
	// shookHands tells of a client of an earlier version, which gets
	// everything as it is.
	shookHands bool
	open       []listener
}

type listener struct {
	id     json.RawMessage
	filter mcp.SubscriptionFilter
}

// take notes what a request means for notifications.
func (l *listeners) take(head envelope) {
	switch head.Method {
	case string(mcp.MethodInitialize):
		l.shookHands = true
	case string(mcp.MethodSubscriptionsListen):
		var params mcp.SubscriptionsListenParams
		if json.Unmarshal(head.Params, &params) == nil {
			l.open = append(l.open, listener{head.ID, params.Notifications})
		}
	}
}

// answered notes that a request is over.
func (l *listeners) answered(id json.RawMessage) {
	l.open = slices.DeleteFunc(l.open, func(open listener) bool { return string(open.id) == string(id) })
}

// copies gives what to write in the place of a message of the library.
func (l *listeners) copies(head envelope, line []byte) [][]byte {
	if l.shookHands || !isSubscribable(head.Method) {
		return [][]byte{line}
	}
	var copies [][]byte
	for _, open := range l.open {
		if !open.wants(head) {
			continue
		}
		if tagged, err := withSubscription(line, open.id); err == nil {
			copies = append(copies, append(tagged, '\n'))
		}
	}
	return copies
}

func isSubscribable(method string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged,
		mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationResourceUpdated:
		return true
	}
	return false
}

func (l listener) wants(head envelope) bool {
	switch head.Method {
	case mcp.MethodNotificationToolsListChanged:
		return l.filter.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return l.filter.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return l.filter.ResourcesListChanged
	}
	var params struct {
		URI string `json:"uri"`
	}
	return json.Unmarshal(head.Params, &params) == nil && slices.Contains(l.filter.ResourceSubscriptions, params.URI)
}

// withSubscription adds the id of a listen request to a notification's _meta.
func withSubscription(line []byte, id json.RawMessage) ([]byte, error) {
	var message map[string]json.RawMessage
	if err := json.Unmarshal(line, &message); err != nil {
		return nil, err
	}
	params := map[string]json.RawMessage{}
	if raw, ok := message["params"]; ok {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, err
		}
	}
	meta, err := json.Marshal(map[string]json.RawMessage{mcp.MetaKeySubscriptionID: id})
	if err != nil {
		return nil, err
	}
	params["_meta"] = meta
	if message["params"], err = json.Marshal(params); err != nil {
		return nil, err
	}
	return json.Marshal(message)
}
