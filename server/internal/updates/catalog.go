package updates

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// CatalogChanged notifies clients of a change of the catalog: list_changed where a
// list reads differently now, updated where a subscribed resource does.
func (u *Updates) CatalogChanged(change catalog.Change) {
	differ := listsDiffer(change.Before, change.After)
	if differ || u.Skills.AnyProblem(change.Before) != u.Skills.AnyProblem(change.After) {
		u.listChanged(mcp.MethodNotificationResourcesListChanged)
	}
	if differ {
		u.listChanged(mcp.MethodNotificationPromptsListChanged)
	}
	problemsDiffer := sync.OnceValue(func() bool { // for who subscribed: there may be very many
		return !slices.Equal(u.Skills.Problems(change.Before), u.Skills.Problems(change.After))
	})
	u.notify(func(uri string) bool {
		if uri == skills.ProblemsURI {
			return problemsDiffer()
		}
		return touched(change, uri)
	})
	u.Log.Info("catalog changed", "skills", len(change.After.Skills()), "problems", len(change.After.Problems()), "files", len(change.Files))
}

// listChanged notifies who hears of a list that it has changed.
func (u *Updates) listChanged(method string) { u.Notified(method, u.Subscriptions.ListChanged(method)) }

// listsDiffer reports whether resources/list or prompts/list changed.
func listsDiffer(before, after *catalog.Snapshot) bool {
	return !slices.EqualFunc(before.Skills(), after.Skills(), func(old, now *catalog.Skill) bool {
		return old == now || old.Name == now.Name && old.Description == now.Description && old.Path == now.Path && old.Entry == now.Entry && old.ModelOnly == now.ModelOnly
	})
}

// touched reports whether a change may have altered what a URI reads.
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
