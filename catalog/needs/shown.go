package needs

import (
	"strconv"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// shown quotes what a file says, for a note.
func shown(text string) string { return strconv.Quote(truncate.After(text, 80)) }
