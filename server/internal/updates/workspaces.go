package updates

import (
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// maxStates bounds the URIs of one workspace whose changes are looked for:
// each is looked at after every run there.
const maxStates = 1000

// noteState notes in which state a new subscriber finds a file of a workspace.
// The subscription is there by then: see [Updates.WorkspaceChanged].
func (u *Updates) noteState(uri string) {
	if !strings.HasPrefix(uri, workspace.Scheme) {
		return
	}
	dir, file, err := u.Workspaces.OpenURI(uri)
	if err != nil {
		return
	}
	defer dir.Close()
	handle, _, _ := workspace.ParseURI(uri) // it was parsed before
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.states[handle][uri]; known {
		return
	}
	if len(u.states[handle]) >= maxStates {
		u.Log.Warn("too many subscriptions to one workspace; one gets no updates")
		return
	}
	if u.states == nil {
		u.states = map[string]map[string]string{}
	}
	if u.states[handle] == nil {
		u.states[handle] = map[string]string{}
	}
	u.states[handle][uri] = dir.State(file)
}

// WorkspaceChanged notifies subscribers of which files of a workspace are not as
// they were. It is called when a program's whole tree is dead, and after a
// write.
func (u *Updates) WorkspaceChanged(ws workspaces.Workspace) {
	u.mu.Lock()
	defer u.mu.Unlock()
	states := u.states[ws.Handle]
	if len(states) == 0 {
		return
	}
	dir, _, err := workspace.Open(ws, ".")
	if err != nil {
		u.Log.Warn("changes in a workspace cannot be looked for", "error", err)
		return
	}
	defer dir.Close()
	// A state without subscription is forgotten. None is noted meanwhile, and one
	// that was has had its subscription before.
	kept, changed := map[string]string{}, map[string]bool{}
	u.eachSubscribed(func(_ *client.Client, uri string) {
		before, noted := states[uri]
		if _, looked := kept[uri]; looked || !noted {
			return
		}
		kept[uri] = before
		if _, file, _ := workspace.ParseURI(uri); !strings.HasPrefix(file, sandbox.PrivateDir+"/") { // a saved output stays as it is
			kept[uri] = dir.State(file)
		}
		if kept[uri] != before {
			changed[uri] = true
		}
	})
	u.states[ws.Handle] = kept
	if len(changed) > 0 {
		u.notify(func(uri string) bool { return changed[uri] })
	}
}

// WorkspaceExpired notifies subscribers that all files of a workspace are gone.
// There is nothing more to hear of them then.
func (u *Updates) WorkspaceExpired(handle string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	states := u.states[handle]
	delete(u.states, handle)
	u.notify(func(uri string) bool {
		_, gone := states[uri]
		return gone
	})
	for uri := range states {
		u.Subscriptions.Forget(uri)
	}
}
