package catalog

import "github.com/skills-mcp/skills-mcp/catalog/internal/toolsfile"

// Tool is one executable tool of a tools.json.
type Tool = toolsfile.Tool

// OptionError is a value that a tool's program could take for an option.
type OptionError = toolsfile.OptionError

// ParseTools decodes and checks a tools.json: {"tools": [...]}, or the bare
// list. Each tool has name, description, inputSchema (or input_schema), run (or
// argv, or command and args), cwd and timeoutMs (or timeout_ms). Faulty tools become problems and
// do not cost the others; of two tools of one name the first is kept. The
// file is the name that the problems carry.
func ParseTools(file string, data []byte) ([]Tool, []Problem) { return toolsfile.Parse(file, data) }
