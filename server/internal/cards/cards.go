// Package cards has the cards that hosts show to people with a tool's result, by
// the extension MCP Apps (io.modelcontextprotocol/ui, SEP-1865): documents of
// HTML, each whole in itself, which a host shows in a sandboxed frame and hands the
// tool's input and result by messages.
//
// A card is the same for everybody, whatever is shown on it: what clients, skills
// and programs wrote reaches it only as values in a host's messages, and becomes
// text there, never markup. It may load nothing, connect to nothing, and run no
// script but its own.
package cards

import (
	"maps"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// scheme and mimeType are those of documents that hosts show, by the extension.
const (
	scheme   = "ui://"
	mimeType = "text/html;profile=mcp-app"
)

// Card names a card.
type Card string

// The cards, by what their tools do.
const (
	Activate Card = "activate" // instructions of a skill
	Read     Card = "read"     // a file, a directory, a diff
	Run      Card = "run"      // a program, and what it made and changed
	Changes  Card = "changes"  // what is held of the user's files, and was applied
)

// described are the cards as lists have them.
var described = []struct {
	card               Card
	title, description string
}{
	{Activate, "Activated skill", "What a skill is, may do and has, with its instructions."},
	{Read, "Read file", "A file of a skill or a workspace: text, an image, a table or a diff."},
	{Run, "Run program", "How a program ended, what it printed, and the files that it made and changed."},
	{Changes, "Changed files", "What is held of the user's files, was applied, and was refused."},
}

// URI is by what tools name a card, and hosts read it.
func (c Card) URI() string { return scheme + "skills-mcp/" + string(c) }

// Resources returns the cards as a list of resources has them.
func Resources() []mcp.Resource {
	list := make([]mcp.Resource, len(described))
	for i, of := range described {
		list[i] = mcp.NewResource(of.card.URI(), "card-"+string(of.card), mcp.WithResourceDescription(of.description), mcp.WithMIMEType(mimeType))
		list[i].Title, list[i].Meta = of.title, &mcp.Meta{AdditionalFields: meta()}
	}
	return list
}

// Contents returns the document of a URI, if it is one's.
func Contents(uri string) (contents mcp.ResourceContents, ok bool) {
	name, ok := strings.CutPrefix(uri, Card("").URI())
	text, known := documents()[Card(name)]
	if !ok || !known {
		return nil, false
	}
	return mcp.TextResourceContents{URI: uri, MIMEType: mimeType, Text: text, Meta: meta()}, true
}

// meta says what a host has to know of a card: that it needs nothing of any
// domain, and no permission of the browser.
func meta() map[string]any {
	none := []string{}
	return map[string]any{"ui": map[string]any{
		"csp":           map[string]any{"connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none},
		"permissions":   map[string]any{},
		"prefersBorder": true,
	}}
}

// Mark has a tool's results shown on a card, which may not call the tool: it is
// the model's alone. Other copies of the definition stay as they are.
func (c Card) Mark(tool *mcp.Tool) {
	marked := mcp.Meta{AdditionalFields: map[string]any{}}
	if tool.Meta != nil {
		marked.ProgressToken = tool.Meta.ProgressToken
		maps.Copy(marked.AdditionalFields, tool.Meta.AdditionalFields)
	}
	marked.AdditionalFields["ui"] = map[string]any{"resourceUri": c.URI(), "visibility": []string{"model"}}
	tool.Meta = &marked
}
