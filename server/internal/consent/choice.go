package consent

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/policy/approval"
)

// The choices, as a user reads them. Clients give them back as they are.
const (
	choiceOnce    = "Allow once"
	choiceSession = "Allow for this session"
	choiceAlways  = "Always allow for this version of the skill"
	choiceDecline = "Decline"
)

// answerField is the one field of the form.
const answerField = "answer"

// scopes are what the choices that allow allow.
var scopes = map[string]approval.Scope{
	choiceOnce: approval.Once, choiceSession: approval.Session, choiceAlways: approval.Always,
}

// form asks for one of the choices. It has no default: a client that fills in
// defaults by itself would allow what nobody has read.
func form(q Question, choices []string) mcp.ElicitationParams {
	return mcp.ElicitationParams{
		Mode:    mcp.ElicitationModeForm,
		Message: q.message(),
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{answerField: map[string]any{
				"type": "string", "title": "Answer", "enum": choices,
			}},
			"required": []string{answerField},
		},
	}
}

// chosen returns the choice in a client's answer, or nothing.
func chosen(content any) string {
	fields, _ := content.(map[string]any)
	choice, _ := fields[answerField].(string)
	return choice
}
