package advice_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/advice"
)

func TestLacksPackage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'pypdf'\n": true,
		"Error: Cannot find module 'docx'\nRequire stack:\n":                                                                           true,
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'sharp' imported from /skill/a.mjs\n":                                       true,
		"ERROR: No matching distribution found for pypdf\n":                                                                            true,
		"npm error code EAI_AGAIN\n":                    true,
		"bash: line 1: greet: command not found\n":      true,
		"Error: Cannot find module './own.js'\n":        false,
		"Error: Cannot find module '/workspace/x.js'\n": false,
		"ValueError: No module named anything\n":        false,
		"":                                              false,
	} {
		result := sandbox.Result{Stderr: sandbox.Output{Data: []byte(text)}}
		if got := advice.LacksPackage(result); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
