package router

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// HookErrors answers parameters that the library cannot read in words of the
// protocol.
func HookErrors(hooks *mcpserver.Hooks, log *slog.Logger) {
	hooks.AddOnError(func(ctx context.Context, id any, method mcp.MCPMethod, _ any, err error) {
		a := answerFrom(ctx)
		if f := unreadable(cmp.Or(a.head.Method, string(method)), err); f != nil {
			a.fail(f)
		}
		log.Debug("request failed", "method", method, "id", id, "error", err)
	})
}

// unreadable is the failure of a request whose parameters have a wrong type,
// or nil for another error of the library, whose text would name Go's types.
func unreadable(method string, err error) *failure.Failure {
	if _, ok := errors.AsType[*mcpserver.UnparsableMessageError](err); !ok {
		return nil
	}
	const hint = "Send the parameters as the protocol's specification has them."
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || wrong.Field == "" {
		return failure.New(failure.InvalidArguments, hint, "the parameters of %s cannot be read", method)
	}
	// The names of embedded structs are among those of the fields.
	path := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(name string) bool {
		return name == "" || name[0] >= 'A' && name[0] <= 'Z'
	})
	kind, _, _ := strings.Cut(wrong.Value, " ")
	return failure.New(failure.InvalidArguments, hint, "%s of %s has a wrong type: %s", strings.Join(path, "."), method, kind)
}

// Cancelable ends a tool's call where its client cancels it; the library alone
// would not tell all ids apart.
func Cancelable(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if lasting := answerFrom(ctx).lasting; lasting != nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(lasting, cancel)()
		}
		return next(ctx, request)
	}
}
