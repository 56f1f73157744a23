package advice

import (
	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// absentModule is what Python, Node.js and installers say of a package that is
// not there.
var absentModule = lazyregexp.New(`(?m)^(?:ModuleNotFoundError: No module named|ImportError: No module named|Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:module|package) '[^./]` +
	`|.*\[ERR_MODULE_NOT_FOUND\]: Cannot find package|ERROR: (?:Could not find a version that satisfies|No matching distribution found)|npm (?:error|ERR!) code (?:EAI_AGAIN|ENOTCACHED|ENOTFOUND)` +
	`|error: externally-managed-environment|.*: command not found$)`)

// LacksPackage reports whether a program that failed says that it lacks a package,
// as far as its output was kept.
func LacksPackage(result sandbox.Result) bool {
	return absentModule().Match(result.Stderr.Data) || absentModule().Match(result.Stdout.Data)
}
