package router

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// Read reads a resource for a client. It is what the library's handler of
// resources/read calls, too.
type Read func(ctx context.Context, uri string) (mcp.ResourceContents, error)

// PlainRead returns the URI of a request to read a file of a skill in which there
// is nothing that the library could refuse or take for something else: in a
// session, its members, headers and parameters are those that it has to have, and
// no others. Hosts read so, by the hundred; the library would decode such a request
// four times over, and prepare for notifications among its answer.
func PlainRead(r *http.Request, head jsonrpc.Message) (uri string, plain bool) {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
		version != "" && !mcp.IsValidProtocolVersion(version) || mcp.IsModernProtocol(version) ||
		head.Method != string(mcp.MethodResourcesRead) || !head.IsRequest() || string(head.Version) != `"`+mcp.JSONRPC_VERSION+`"` {
		return "", false
	}
	var params map[string]string // with _meta, it is the library's to read
	if json.Unmarshal(head.Params, &params) != nil || len(params) != 1 {
		return "", false
	}
	uri = params["uri"]
	return uri, strings.HasPrefix(uri, "skill://")
}

// ReadHTTP answers what [PlainRead] found as the library would. The context is that
// of a request of a session.
func (rt *Router) ReadHTTP(ctx context.Context, w http.ResponseWriter, head jsonrpc.Message, uri string) {
	contents, err := rt.Read(ctx, uri)
	if ctx.Err() != nil {
		return // the client is not there any more
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		rt.Log.Debug("request failed", "method", head.Method, "id", head.ID, "error", err)
		_, _ = w.Write(append(Refusal(head, failure.Of(err)), '\n'))
		return
	}
	_ = json.NewEncoder(w).Encode(struct {
		Version string                 `json:"jsonrpc"`
		ID      json.RawMessage        `json:"id"`
		Result  mcp.ReadResourceResult `json:"result"`
	}{mcp.JSONRPC_VERSION, head.ID, mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}})
}
