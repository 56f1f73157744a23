// Package updates notifies clients of what changed of what they subscribed to: lists,
// files of skills, and files of workspaces.
package updates

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Updates notifies subscribers. It is safe for use by several goroutines.
type Updates struct {
	Skills        skills.Access
	Workspaces    *workspace.Access
	Subscriptions *client.Subscriptions
	// Notified is called with the method of a notice, and how many clients get it.
	Notified func(method string, clients int)
	Log      *slog.Logger

	mu sync.Mutex
	// states are those in which the subscribers of files of workspaces last
	// heard of them, by handle, and by URI as it was subscribed to.
	states map[string]map[string]string
}

// Hook has the library's subscriptions kept.
func (u *Updates) Hook(hooks *mcpserver.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, request *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		u.subscribe(ctx, request.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, request *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		u.Subscriptions.Remove(ctx, request.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, request *mcp.SubscriptionsListenRequest) {
		u.subscribe(ctx, request.Params.Notifications.ResourceSubscriptions...)
	})
}

// subscribe notes what the client of a request wants to hear of.
func (u *Updates) subscribe(ctx context.Context, uris ...string) {
	uris = slices.DeleteFunc(slices.Clone(uris), func(uri string) bool { return !u.subscribable(uri) })
	if refused := u.Subscriptions.Add(ctx, uris...); refused > 0 {
		u.Log.Warn("too many subscriptions; some get no updates", "refused", refused)
	}
	for _, uri := range uris {
		u.noteState(uri)
	}
}

// subscribable reports whether a URI is that of the problems, there is the
// workspace that it names, or the file of a skill that it names may be read. Who names a workspace that is there
// knows its handle, so no client hears of what others do.
func (u *Updates) subscribable(uri string) bool {
	if uri == skills.ProblemsURI {
		return true
	}
	if !strings.HasPrefix(uri, workspace.Scheme) {
		skill, file, err := resources.Resolve(u.Skills.Snapshot(), uri)
		return err != nil || file == "." || u.Skills.Readable(skill)(file)
	}
	dir, _, err := u.Workspaces.OpenURI(uri)
	if err != nil {
		return false
	}
	dir.Close()
	return true
}

// notify notifies those who subscribed to a URI that changed.
func (u *Updates) notify(changed func(uri string) bool) {
	u.eachSubscribed(func(c *client.Client, uri string) {
		if changed(uri) {
			c.Notify(client.Updated(uri))
			u.Notified(mcp.MethodNotificationResourceUpdated, 1)
		}
	})
}

// eachSubscribed calls visit with each client and each URI that it subscribed to.
func (u *Updates) eachSubscribed(visit func(c *client.Client, uri string)) {
	for c, uris := range u.Subscriptions.Wanted() {
		for _, uri := range uris {
			visit(c, uri)
		}
	}
}
