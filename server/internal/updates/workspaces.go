package updates

import (
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// maxStates bounds the URIs of one workspace whose changes are looked for:
// each is looked at after every run there.
const maxStates = 1000

// noteState notes in which state a new subscriber finds a file of a workspace.
// The subscription is there by then: see prune.
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
	u.prune(states)
	changed := map[string]bool{}
	for uri, before := range states {
		_, file, _ := workspace.ParseURI(uri)
		if strings.HasPrefix(file, sandbox.PrivateDir+"/") {
			continue // a saved output stays as it is
		}
		if now := dir.State(file); now != before {
			states[uri], changed[uri] = now, true
		}
	}
	if len(changed) > 0 {
		u.notify(func(uri string) bool { return changed[uri] })
	}
}

// prune forgets states without subscription. The lock is held,
// so that no state is noted meanwhile, and a state that was has had its
// subscription before.
func (u *Updates) prune(states map[string]string) {
	wanted := map[string]bool{}
	for _, uris := range u.Subscriptions.Wanted() {
		for _, uri := range uris {
			wanted[uri] = true
		}
	}
	for uri := range states {
		if !wanted[uri] {
			delete(states, uri)
		}
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
