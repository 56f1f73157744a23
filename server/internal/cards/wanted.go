package cards

import (
	"context"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// extensionID names MCP Apps among the capabilities.
const extensionID = "io.modelcontextprotocol/ui"

// Declared reports whether a client's capabilities say that it shows documents of
// our type.
func Declared(capabilities mcp.ClientCapabilities) bool {
	settings, _ := capabilities.Extensions[extensionID].(map[string]any)
	types, _ := settings["mimeTypes"].([]any)
	for _, shown := range types {
		if shown == mimeType {
			return true
		}
	}
	return false
}

// Wanted reports whether the client of a request shows cards. In the stateless
// protocol only what the request itself says counts.
func Wanted(ctx context.Context) bool {
	if mcp.IsModernProtocol(mcpserver.RequestProtocolVersion(ctx)) {
		info := mcpserver.RequestProtocolInfoFromContext(ctx)
		return info != nil && info.ClientCapabilities != nil && Declared(*info.ClientCapabilities)
	}
	informed, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo)
	return ok && Declared(informed.GetClientCapabilities())
}

// Advertise adds the extension to the server's capabilities.
func Advertise(capabilities *mcp.ServerCapabilities) {
	extensions := map[string]any{extensionID: map[string]any{}}
	maps.Copy(extensions, capabilities.Extensions) // which all clients share
	capabilities.Extensions = extensions
}
