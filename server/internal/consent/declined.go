package consent

import (
	"github.com/mark3labs/mcp-go/mcp"
)

// Declined is the error of what the user declined. It is no failure: the tool
// did what it should, which was nothing.
type Declined struct {
	// Title is what was to be done.
	Title  string
	Answer Answer
}

// Error says it to a model. Whether a person answered is not known: some clients
// decline by themselves.
func (d *Declined) Error() string {
	answered := "declined"
	if d.Answer.Outcome == Canceled {
		answered = "dismissed the question"
	}
	return "Not done: " + d.Title + ".\nThe user, or the client in the user's place, " + answered +
		".\nNext: Do not try it again, nor another way to the same end, unless the user asks for it. Tell the user what was not done."
}

// ToolResult is the tool's answer.
func (d *Declined) ToolResult() *mcp.CallToolResult { return mcp.NewToolResultText(d.Error()) }
