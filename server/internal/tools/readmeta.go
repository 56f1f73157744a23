package tools

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// readMeta is what programs are told of a reading, in the answer's _meta: models
// read it in the content, and few hosts show them this.
type readMeta struct {
	path, mime string
	size       int64 // of the whole
	truncated  bool  // not all that was asked for came
	next       int64 // the offset to read on from, 0 where there is none
}

// metaOf says what was read of a file, of which a page came.
func metaOf(path string, content contained.Content) readMeta {
	return readMeta{path: path, mime: content.MIME, size: content.Size, truncated: content.Next > 0, next: content.Next}
}

// mark puts it into an answer, which it returns.
func (m readMeta) mark(answer *mcp.CallToolResult) *mcp.CallToolResult {
	fields := map[string]any{
		"path": strings.ToValidUTF8(m.path, "\uFFFD"), "mime": m.mime, "size": m.size, "truncated": m.truncated,
	}
	if m.next > 0 {
		fields["nextOffset"] = m.next
	}
	answer.Meta = &mcp.Meta{AdditionalFields: fields}
	return answer
}
