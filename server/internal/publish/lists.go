package publish

import (
	"sort"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
)

// pageSize is how many entries a page of a list holds.
const pageSize = 500

// listResources fills resources/list, and listPrompts prompts/list, from the
// snapshot. The library would have every entry registered, sort all of them
// again for every page and, paging by name, lose equal names; so it is told of
// none, and its empty answer is filled here. It has checked by then that the
// cursor is base64.
func (p *Publisher) listResources(cursor mcp.Cursor, result *mcp.ListResourcesResult) {
	snapshot := p.Skills.Snapshot()
	page, next := skillPage(snapshot.Skills(), cursor)
	result.Resources = make([]mcp.Resource, 0, len(page)+2)
	if p.CompatIndex && cursor == "" {
		result.Resources = append(result.Resources, compatIndexResource())
	}
	if cursor == "" && p.Skills.AnyProblem(snapshot) {
		result.Resources = append(result.Resources, problemsResource())
	}
	for _, skill := range page {
		result.Resources = append(result.Resources, skillResource(skill))
	}
	result.NextCursor = next
}

func (p *Publisher) listPrompts(cursor mcp.Cursor, result *mcp.ListPromptsResult) {
	page, next := skillPage(p.Skills.Snapshot().ForUsers(), cursor)
	result.Prompts = make([]mcp.Prompt, 0, len(page))
	for _, skill := range page {
		result.Prompts = append(result.Prompts, skillPrompt(skill))
	}
	result.NextCursor = next
}

// skillPage returns the skills of a page that come after a cursor.
func skillPage(all []*catalog.Skill, cursor mcp.Cursor) (page []*catalog.Skill, next mcp.Cursor) {
	page, _ = skillsAfter(all, cursor)
	if len(page) <= pageSize {
		return page, ""
	}
	page = page[:pageSize]
	return page, encodeCursor(page[pageSize-1].Name)
}

// skillsAfter returns the skills that come after a cursor. The cursor is the
// last name of the page before, so across a reload every skill that stays is
// given exactly once.
func skillsAfter(all []*catalog.Skill, cursor mcp.Cursor) ([]*catalog.Skill, error) {
	last, err := decodeCursor(cursor)
	return all[sort.Search(len(all), func(i int) bool { return all[i].Name > last }):], err
}

// skillResource is a skill's entry document in resources/list (SEP-2640: the
// resource's name and description are the frontmatter's).
func skillResource(skill *catalog.Skill) mcp.Resource {
	return mcp.NewResource(resources.URI(skill, skill.Entry), skill.Name,
		mcp.WithResourceDescription(skill.Description),
		mcp.WithMIMEType("text/markdown"))
}

// templates are the ways to name a resource that is in no list.
func templates() []mcp.ResourceTemplate {
	return []mcp.ResourceTemplate{
		mcp.NewResourceTemplate("skill://{+skill}/{+file}", "skill-file",
			mcp.WithTemplateTitle("File of a skill"),
			mcp.WithTemplateDescription("Any file of a skill by its path, such as skill://csv-profile/SKILL.md. Both parts can be completed.")),
		mcp.NewResourceTemplate("workspace://{handle}/{+file}", "workspace-file",
			mcp.WithTemplateTitle("File of a workspace"),
			mcp.WithTemplateDescription("A file that a program of a skill left in its workspace, as exec linked it.")),
		mcp.NewResourceTemplate("changes://{id}/{+file}", "held-change",
			mcp.WithTemplateTitle("Held change of the user's project"),
			mcp.WithTemplateDescription("New content of a file that programs changed and that is not applied yet; changes://{id} alone is a unified diff of all.")),
	}
}
