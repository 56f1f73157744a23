package server

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// listeners are the subscriptions/listen requests of a stdio client that are
// open. From protocol version 2026-07-28 on a client gets the notifications
// that it asked for, each tagged with the request that asked; the library
// does so over HTTP, but sends everything, untagged, to a stdio client.
type listeners struct {
	// shookHands tells of a client of an earlier version, which gets
	// everything as it is.
	shookHands bool
	open       []listening
}

// listening is one open request to listen.
type listening struct {
	id     json.RawMessage
	filter mcp.SubscriptionFilter
	// acknowledged tells that the first message, which says what is listened
	// for, has been written.
	acknowledged bool
	// end is the result, where the library wrote it before the
	// acknowledgement.
	end []byte
}

// take notes what a request means for notifications.
func (l *listeners) take(head jsonrpc.Message) {
	switch head.Method {
	case string(mcp.MethodInitialize):
		l.shookHands = true
	case string(mcp.MethodSubscriptionsListen):
		var params mcp.SubscriptionsListenParams
		if json.Unmarshal(head.Params, &params) == nil {
			l.open = append(l.open, listening{id: head.ID, filter: params.Notifications})
		}
	}
}

// answered notes that a request is over.
func (l *listeners) answered(id json.RawMessage) {
	l.open = slices.DeleteFunc(l.open, func(open listening) bool { return jsonrpc.Key(open.id) == jsonrpc.Key(id) })
}

// find gives the open request of an id, or nil.
func (l *listeners) find(id json.RawMessage) *listening {
	for i := range l.open {
		if jsonrpc.Key(l.open[i].id) == jsonrpc.Key(id) {
			return &l.open[i]
		}
	}
	return nil
}

// found gives the request of an id as the library has it.
func (l *listeners) found(id json.RawMessage) *listening {
	for i := range l.open {
		if !l.open[i].acknowledged && jsonrpc.Key(jsonrpc.LibraryID(l.open[i].id)) == jsonrpc.Key(id) {
			return &l.open[i]
		}
	}
	return nil
}

// hold keeps back the result of a request to listen that the library wrote
// before the acknowledgement, which has to be the first message about it. It
// reports whether it did; errors have no acknowledgement.
func (l *listeners) hold(head jsonrpc.Message, line []byte) bool {
	if !head.IsResponse() {
		return false
	}
	var response struct {
		Result json.RawMessage `json:"result"`
	}
	open := l.find(head.ID)
	if open == nil || open.acknowledged || json.Unmarshal(line, &response) != nil || response.Result == nil {
		return false
	}
	open.end = slices.Clone(line)
	return true
}

// acknowledge notes an acknowledgement, and gives the result that was kept
// back for it, if any.
func (l *listeners) acknowledge(head jsonrpc.Message) (end []byte) {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(head.Params, &params) != nil {
		return nil
	}
	open := l.found(params.Meta[mcp.MetaKeySubscriptionID])
	if open == nil {
		return nil
	}
	open.acknowledged = true
	if end = open.end; end != nil {
		l.answered(open.id)
	}
	return end
}

// lines gives what to write in the place of a message, and notes what it
// answers.
func (l *listeners) lines(head jsonrpc.Message, line []byte) [][]byte {
	if l.hold(head, line) {
		return nil
	}
	copies := l.copies(head, line)
	if head.IsResponse() {
		l.answered(head.ID)
	}
	return copies
}

// copies gives what to write in the place of a message of the library.
func (l *listeners) copies(head jsonrpc.Message, line []byte) [][]byte {
	if head.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		if end := l.acknowledge(head); end != nil {
			return [][]byte{line, end}
		}
	}
	if l.shookHands || !isSubscribable(head.Method) {
		return [][]byte{line}
	}
	var copies [][]byte
	for _, open := range l.open {
		if !open.acknowledged || !open.wants(head) {
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

func (l listening) wants(head jsonrpc.Message) bool {
	if head.Method != mcp.MethodNotificationResourceUpdated {
		return client.Listed(l.filter)(head.Method)
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
