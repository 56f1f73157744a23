package failure

import "github.com/mark3labs/mcp-go/mcp"

// RPCError is a JSON-RPC error with our data.
type RPCError struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

type errorData struct {
	Code Code   `json:"code"`
	Hint string `json:"hint,omitempty"`
	URI  string `json:"uri,omitempty"`
}

// Ours reports whether it is the server, and not the request, that is to blame.
func (f *Failure) Ours() bool { return f.Code == Internal || f.Code == AuditFailed }

// RPCError returns the failure as a JSON-RPC error: of the server where it is
// ours, else of the request.
func (f *Failure) RPCError() RPCError {
	code := mcp.INVALID_PARAMS
	if f.Ours() {
		code = mcp.INTERNAL_ERROR
	}
	return RPCError{Code: code, Message: f.Message, Data: errorData{f.Code, f.Hint, f.URI}}
}
