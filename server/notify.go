package server

import (
	"path/filepath"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
)

// Notify tells clients of a change of the catalog: list_changed where a list
// reads differently now, updated where a subscribed resource does. It is the
// function to give to [catalog.Catalog.Watch].
func (s *Server) Notify(change catalog.Change) {
	if listsDiffer(change.Before, change.After) {
		s.subscriptions.ListChanged(mcp.MethodNotificationResourcesListChanged)
		s.subscriptions.ListChanged(mcp.MethodNotificationPromptsListChanged)
	}
	for due, uris := range s.subscriptions.Wanted() {
		for _, uri := range uris {
			if touched(change, uri) {
				due.Notify(client.Updated(uri))
			}
		}
	}
	s.log.Info("catalog changed", "skills", len(change.After.Skills()), "problems", len(change.After.Problems()), "files", len(change.Files))
}

// listsDiffer tells whether resources/list or prompts/list changed.
func listsDiffer(before, after *catalog.Snapshot) bool {
	old, now := before.Skills(), after.Skills()
	if len(old) != len(now) {
		return true
	}
	for i := range old {
		if old[i].Name != now[i].Name || old[i].Description != now[i].Description ||
			old[i].Path != now[i].Path || old[i].Entry != now[i].Entry {
			return true
		}
	}
	return false
}

// touched tells whether a change may have altered what a URI reads.
func touched(change catalog.Change, uri string) bool {
	skill, file, err := resources.Resolve(change.After, uri)
	before, _, beforeErr := resources.Resolve(change.Before, uri)
	if (err == nil) != (beforeErr == nil) {
		return true // it came or went
	}
	if err != nil {
		return false
	}
	if before.Dir != skill.Dir {
		return true // another root's skill took its place
	}
	target := filepath.Join(skill.Dir, filepath.FromSlash(file))
	for _, changed := range change.Files {
		if pathname.Within(target, changed) || pathname.Within(changed, target) {
			return true
		}
	}
	return false
}
