package server

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// envelope is the part of a JSON-RPC message that tells what it is.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (e envelope) isRequest() bool { return e.Method != "" && len(e.ID) > 0 }

func (e envelope) isNotification() bool { return e.Method != "" && len(e.ID) == 0 }

func (e envelope) isResponse() bool { return e.Method == "" && len(e.ID) > 0 }

// version returns the protocol version that a message states, from 2026-07-28
// on, or nothing.
func (e envelope) version() string {
	var params struct {
		Meta *mcp.Meta `json:"_meta"`
	}
	_ = json.Unmarshal(e.Params, &params)
	return params.Meta.ProtocolVersion()
}

// malformed is what is wrong with a message that is none of JSON-RPC.
type malformed struct {
	code    int
	message string
}

// envelopeKeys are the names in a JSON-RPC message. The library takes them in
// any case, so with both "method" and "Method" it would see another request
// than we do: such a message is refused.
var envelopeKeys = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// parseEnvelope reads a message of a client. What is wrong is nil for a
// request, a notification and a response.
func parseEnvelope(message []byte) (head envelope, wrong *malformed) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil || fields == nil {
		if json.Valid(message) {
			return head, &malformed{mcp.INVALID_REQUEST, "the message is not one JSON object"}
		}
		return head, &malformed{mcp.PARSE_ERROR, "the message is not JSON"}
	}
	for key := range fields {
		if !slices.Contains(envelopeKeys, key) && slices.ContainsFunc(envelopeKeys, func(name string) bool { return strings.EqualFold(name, key) }) {
			return head, &malformed{mcp.INVALID_REQUEST, "names in a message are written in lower case"}
		}
	}
	head = envelope{ID: fields["id"], Params: fields["params"]}
	if method, ok := fields["method"]; ok && json.Unmarshal(method, &head.Method) != nil {
		return envelope{}, &malformed{mcp.INVALID_REQUEST, "the method is not a string"}
	}
	if head.Method == "" && fields["result"] == nil && fields["error"] == nil {
		return envelope{}, &malformed{mcp.INVALID_REQUEST, "the message has no method"}
	}
	if head.Method != "" && (given(fields["result"]) || given(fields["error"])) {
		return envelope{}, &malformed{mcp.INVALID_REQUEST, "the message is both a request and a response"}
	}
	// Some clients write a notification's absent id as null.
	if string(head.ID) == "null" && (head.Method == "" || strings.HasPrefix(head.Method, "notifications/")) {
		head.ID = nil
	}
	if len(head.ID) > 0 && !isID(head.ID) {
		return envelope{}, &malformed{mcp.INVALID_REQUEST, "the id is neither a string nor a number"}
	}
	return head, nil
}

// given reports whether a field is there and not null.
func given(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }

// isID reports whether a JSON value can be the id of a request. A number that
// is too large to be read is none.
func isID(value json.RawMessage) bool {
	var number *float64
	return value[0] == '"' || json.Unmarshal(value, &number) == nil && number != nil
}

// unreadable is the failure of a request whose parameters have a wrong type,
// or nil for another error of the library, whose text would name Go's types.
func unreadable(method string, err error) *failure.Failure {
	var unparsable *mcpserver.UnparsableMessageError
	if !errors.As(err, &unparsable) {
		return nil
	}
	const hint = "Send the parameters as the protocol's specification has them."
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return failure.New(failure.InvalidArguments, hint, "the parameters of %s cannot be read", display.Clip(method, 80))
	}
	// The names of embedded structs are among those of the fields.
	path := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(name string) bool {
		return name == "" || name[0] >= 'A' && name[0] <= 'Z'
	})
	kind, _, _ := strings.Cut(wrong.Value, " ")
	return failure.New(failure.InvalidArguments, hint, "%s of %s has a wrong type: %s", strings.Join(path, "."), display.Clip(method, 80), kind)
}
