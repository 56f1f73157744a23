package server

import (
	"context"
	"sort"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// pageSize is how many entries a page of a list holds.
const pageSize = 500

// hookLists fills the lists from the snapshot. The library would have every
// entry registered, sort all of them again for every page and, paging by
// name, lose equal names; so it is told of none, and its empty answer is
// filled here. The library has checked by then that the cursor is base64.
func (s *Server) hookLists(hooks *mcpserver.Hooks) {
	hooks.AddAfterListResources(func(ctx context.Context, _ any, request *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		if router.Served(ctx) {
			return
		}
		page, next := skillPage(s.skills.Snapshot(), request.Params.Cursor)
		result.Resources = make([]mcp.Resource, 0, len(page)+1)
		if s.opts.CompatIndex && request.Params.Cursor == "" {
			result.Resources = append(result.Resources, compatIndexResource())
		}
		for _, skill := range page {
			result.Resources = append(result.Resources, skillResource(skill))
		}
		result.NextCursor = next
	})
	hooks.AddAfterListPrompts(func(_ context.Context, _ any, request *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
		page, next := skillPage(s.skills.Snapshot(), request.Params.Cursor)
		result.Prompts = make([]mcp.Prompt, 0, len(page))
		for _, skill := range page {
			result.Prompts = append(result.Prompts, skillPrompt(skill))
		}
		result.NextCursor = next
	})
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		result.ResourceTemplates = templates()
		result.NextCursor = ""
	})
}

// skillPage gives the skills that come after a cursor. The cursor is the last
// name of the page before, so across a reload every skill that stays is given
// exactly once.
func skillPage(snapshot *catalog.Snapshot, cursor mcp.Cursor) (page []*catalog.Skill, next mcp.Cursor) {
	skills := snapshot.Skills()
	if cursor != "" {
		last, _ := decodeCursor(cursor)
		skills = skills[sort.Search(len(skills), func(i int) bool { return skills[i].Name > last }):]
	}
	if len(skills) <= pageSize {
		return skills, ""
	}
	page = skills[:pageSize]
	return page, encodeCursor(page[pageSize-1].Name)
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
	}
}
