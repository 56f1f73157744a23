package catalog

import "github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"

// Repair returns an entry document without the faults that need nobody's judgement
// to correct: a byte-order mark, line endings other than LF, blank lines before the
// frontmatter, and in there values without the quotes that they need, and
// allowed_tools. What its values say stays the same. A document without a
// frontmatter that can be found then is returned as it is.
func Repair(data []byte) []byte { return frontmatter.RepairDocument(data) }

// LineFeeds returns a text whose lines end in LF, and not in CR LF or CR.
func LineFeeds(text []byte) []byte { return frontmatter.LineFeeds(text) }
