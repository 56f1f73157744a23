package changes

import "github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"

// SetFault has a function called at each moment at which a process may be killed.
func SetFault(f func(moment string)) { steps.Fault = f }
