// Package jsonrpc reads JSON-RPC messages of clients far enough to know what
// they are, and refuses what is none. What is inside a message is left to the
// MCP library.
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// MaxMessageBytes bounds one message of a client, in bytes.
const MaxMessageBytes = 16 << 20

// Message is the part of a JSON-RPC message that says what it is.
type Message struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// IsRequest reports whether the message is to be answered.
func (m Message) IsRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// IsNotification reports whether the message has a method and no answer.
func (m Message) IsNotification() bool { return m.Method != "" && len(m.ID) == 0 }

// ProtocolVersion returns the protocol version that a message states, from
// 2026-07-28 on, or nothing.
func (m Message) ProtocolVersion() string {
	var params struct {
		Meta *mcp.Meta `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &params)
	return params.Meta.ProtocolVersion()
}

// Error says what is wrong with a message that is none of JSON-RPC.
type Error struct {
	Code    int
	Message string
}

// memberNames are the names in a JSON-RPC message. The library takes them in
// any case, so with both "method" and "Method" it would see another request
// than we do: such a message is refused.
var memberNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// Parse reads a message of a client. What is wrong is nil for a
// request, a notification and a response.
func Parse(message []byte) (head Message, wrong *Error) {
	if !utf8.Valid(message) {
		return head, &Error{mcp.PARSE_ERROR, "the message is not UTF-8"}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil || fields == nil {
		if json.Valid(message) {
			return head, &Error{mcp.INVALID_REQUEST, "the message is not one JSON object"}
		}
		return head, &Error{mcp.PARSE_ERROR, "the message is not JSON"}
	}
	for key := range fields {
		if !slices.Contains(memberNames, key) && slices.ContainsFunc(memberNames, func(name string) bool { return strings.EqualFold(name, key) }) {
			return head, &Error{mcp.INVALID_REQUEST, "names in a message are written in lower case"}
		}
	}
	head = Message{Version: fields["jsonrpc"], ID: fields["id"], Params: fields["params"]}
	if method, ok := fields["method"]; ok {
		if head.Method, ok = text(method); !ok {
			return Message{}, &Error{mcp.INVALID_REQUEST, "the method is not a string"}
		}
	}
	if head.Method == "" && fields["result"] == nil && fields["error"] == nil {
		return Message{}, &Error{mcp.INVALID_REQUEST, "the message has no method"}
	}
	if head.Method != "" && (given(fields["result"]) || given(fields["error"])) {
		return Message{}, &Error{mcp.INVALID_REQUEST, "the message is both a request and a response"}
	}
	// Some clients write a notification's absent id as null.
	if string(head.ID) == "null" && (head.Method == "" || strings.HasPrefix(head.Method, "notifications/")) {
		head.ID = nil
	}
	if len(head.ID) > 0 && !isID(head.ID) {
		return Message{}, &Error{mcp.INVALID_REQUEST, "the id is neither a string nor a number"}
	}
	return head, nil
}

// given reports whether a field is there and not null.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

// text returns what a JSON value says that is a string, or null.
func text(value json.RawMessage) (text string, ok bool) {
	if value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), true // which nearly all are
	}
	err := json.Unmarshal(value, &text)
	return text, err == nil
}

// isID reports whether a JSON value can be the id of a request. A number that
// is too large to be read is none.
func isID(value json.RawMessage) bool {
	switch c := value[0]; {
	case c == '"':
		return true
	case c == '-', '0' <= c && c <= '9':
		_, err := strconv.ParseFloat(string(value), 64)
		return err == nil
	}
	return false
}

// Refusal is the answer to what is no message, or whose id is not known.
func Refusal(code int, text string) []byte {
	encoded, _ := json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(nil), code, text, nil)) // of texts
	return encoded
}
