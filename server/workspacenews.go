package server

import (
	"slices"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// maxNewsURIs bounds the URIs of one workspace whose changes are looked for:
// each is looked at after every run there.
const maxNewsURIs = 1000

// workspaceNews knows in which state the subscribers of files of workspaces
// last heard of them.
type workspaceNews struct {
	mu     sync.Mutex
	states map[string]map[string]string // by handle, and by URI as it was subscribed to
}

// subscribable leaves out the URIs of workspaces that are not there, and of
// files of skills that may not be read. Who names a workspace that is there
// knows its handle, so nobody hears of what others do.
func (s *Server) subscribable(uris ...string) []string {
	return slices.DeleteFunc(slices.Clone(uris), func(uri string) bool {
		if !strings.HasPrefix(uri, workspace.Scheme) {
			skill, file, err := resources.Resolve(s.skills.Snapshot(), uri)
			return err == nil && file != "." && !s.skills.Readable(skill)(file)
		}
		tree, _, err := s.workspaces.OpenURI(uri)
		if err != nil {
			return true
		}
		tree.Close()
		return false
	})
}

// noteStates notes in which state new subscribers find files of workspaces.
// The subscriptions are there by then: see prune.
func (s *Server) noteStates(uris ...string) {
	for _, uri := range uris {
		if !strings.HasPrefix(uri, workspace.Scheme) {
			continue
		}
		if tree, file, err := s.workspaces.OpenURI(uri); err == nil {
			s.noteState(uri, tree, file)
			tree.Close()
		}
	}
}

func (s *Server) noteState(uri string, tree *contained.Dir, file string) {
	handle, _, _ := workspace.ParseURI(uri) // it was parsed before
	news := &s.news
	news.mu.Lock()
	defer news.mu.Unlock()
	states := news.states[handle]
	if states == nil {
		states = map[string]string{}
	}
	if _, known := states[uri]; known {
		return
	}
	if len(states) >= maxNewsURIs {
		s.log.Warn("too many subscriptions to one workspace; one gets no updates")
		return
	}
	if news.states == nil {
		news.states = map[string]map[string]string{}
	}
	news.states[handle] = states
	states[uri] = tree.State(file)
}

// workspaceChanged tells subscribers which files of a workspace are not as
// they were. It is called when a program's whole tree is dead, and after a
// write.
func (s *Server) workspaceChanged(ws workspaces.Workspace) {
	news := &s.news
	news.mu.Lock()
	defer news.mu.Unlock()
	states := news.states[ws.Handle]
	if len(states) == 0 {
		return
	}
	tree, _, err := workspace.Open(ws, ".")
	if err != nil {
		s.log.Warn("changes in a workspace cannot be looked for", "error", err)
		return
	}
	defer tree.Close()
	s.prune(states)
	changed := map[string]bool{}
	for uri, before := range states {
		_, file, _ := workspace.ParseURI(uri)
		if strings.HasPrefix(file, sandbox.PrivateDir+"/") {
			continue // a saved output stays as it is
		}
		if now := tree.State(file); now != before {
			states[uri], changed[uri] = now, true
		}
	}
	s.tellSubscribers(changed)
}

// prune forgets states that nobody is subscribed to any more. The lock of the
// news is held, so that no state is noted meanwhile, and a state that was has
// had its subscription before.
func (s *Server) prune(states map[string]string) {
	wanted := map[string]bool{}
	for _, uris := range s.subscriptions.Wanted() {
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

// workspaceExpired tells subscribers that all files of a workspace are gone.
// There is nothing more to hear of them then.
func (s *Server) workspaceExpired(handle string) {
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	changed := map[string]bool{}
	for uri := range s.news.states[handle] {
		changed[uri] = true
	}
	delete(s.news.states, handle)
	s.tellSubscribers(changed)
	for uri := range changed {
		s.subscriptions.Forget(uri)
	}
}

func (s *Server) tellSubscribers(changed map[string]bool) {
	if len(changed) == 0 {
		return
	}
	for due, uris := range s.subscriptions.Wanted() {
		for _, uri := range uris {
			if changed[uri] {
				due.Notify(client.Updated(uri))
			}
		}
	}
}
