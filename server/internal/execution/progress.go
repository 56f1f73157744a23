package execution

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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

// silenceMost is how long a call may say nothing whose client asked for progress:
// hosts give up what they do not hear of.
const silenceMost = 15 * time.Second

// unsilenced returns what reports as report does, and that the call is still at work
// where nothing else was to be said for a time, until stop is called.
func unsilenced(report func(line string)) (reporting func(line string), stop func()) {
	if report == nil {
		return nil, func() {}
	}
	began := time.Now()
	var mu sync.Mutex // held while reporting: what comes later has the higher count
	mu.Lock()
	defer mu.Unlock()
	var due *time.Timer
	ended := false
	due = time.AfterFunc(silenceMost, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			report(fmt.Sprintf("still at work after %v", time.Since(began).Round(time.Second)))
			due.Reset(silenceMost)
		}
	})
	reporting = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		report(line)
		due.Reset(silenceMost)
	}
	return reporting, func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		due.Stop()
	}
}

// progressFrom returns the call's progress report, or nil.
func progressFrom(ctx context.Context) func(line string) {
	report, _ := ctx.Value(progressKey{}).(func(string))
	return report
}
