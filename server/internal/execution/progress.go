package execution

import (
	"context"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

type progressKey struct{}

// WithProgress lets a program report progress where the caller asked for it.
func WithProgress(ctx context.Context, server *mcpserver.MCPServer, request mcp.CallToolRequest) context.Context {
	if request.Params.Meta == nil || request.Params.Meta.ProgressToken == nil {
		return ctx
	}
	var count atomic.Int64
	report := func(line string) {
		// A client that does not take it has lost nothing that it needs.
		_ = server.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": request.Params.Meta.ProgressToken,
			"progress":      count.Add(1),
			"message":       truncate.After(line, 200),
		})
	}
	return context.WithValue(ctx, progressKey{}, report)
}

// progressFrom returns the call's progress report, or nil.
func progressFrom(ctx context.Context) func(line string) {
	report, _ := ctx.Value(progressKey{}).(func(string))
	return report
}
