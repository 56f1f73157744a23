package server

import (
	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/policy/approval"
)

// Approval says what users are asked before it is done, and what remembers
// their answers. Users are asked by elicitation; what the client of a call
// cannot ask is refused.
type Approval struct {
	// Modes hold for all skills, and Skills besides for those of their names:
	// the stricter wins.
	approval.Modes
	Skills map[string]approval.Modes
	// Answers remembers what users allow for always. If nil, they are not
	// offered that.
	Answers *answers.Store
}
