package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// CodeExecution is the tool that runs programs in a container.
const CodeExecution = "code_execution_20260521"

// Stop reasons that a caller goes by.
const (
	// EndTurn: the model is done.
	EndTurn = "end_turn"
	// PauseTurn: it is not, and goes on when what it said is sent back.
	PauseTurn = "pause_turn"
)

// ContainerSkill is a skill that a container has.
type ContainerSkill struct {
	// Type is "custom" or "anthropic".
	Type    string `json:"type"`
	SkillID string `json:"skill_id"`
	// Version is the id of a version, or "latest".
	Version string `json:"version,omitempty"`
}

// MaxContainerSkills is how many skills a container is given here.
const MaxContainerSkills = 8

// ContainerParams ask for a container.
type ContainerParams struct {
	// ID is that of one that there is; a new one is made where it is empty.
	ID     string           `json:"id,omitempty"`
	Skills []ContainerSkill `json:"skills,omitempty"`
}

// Tool is a tool that the API runs.
type Tool struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// Turn is what one side says: blocks, each any value that is encoded as one.
type Turn struct {
	// Role is "user" or "assistant".
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// Text returns a block of text.
func Text(text string) any {
	return map[string]string{"type": "text", "text": text}
}

// Upload returns a block that puts an uploaded file into the container.
func Upload(file string) any {
	return map[string]string{"type": "container_upload", "file_id": file}
}

// MessageRequest asks a model to go on.
type MessageRequest struct {
	Model     string           `json:"model"`
	MaxTokens int              `json:"max_tokens"`
	System    string           `json:"system,omitempty"`
	Container *ContainerParams `json:"container,omitempty"`
	Tools     []Tool           `json:"tools,omitempty"`
	Messages  []Turn           `json:"messages"`
}

// Message is what a model said, with what the API did for it.
type Message struct {
	ID string `json:"id"`
	// Content are its blocks as they came, to be sent back; [Block] reads one.
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Container  struct {
		ID        string    `json:"id"`
		ExpiresAt time.Time `json:"expires_at"`
	} `json:"container"`
	Usage struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Block is what the blocks that matter here have.
type Block struct {
	// Type is "text", "server_tool_use", "bash_code_execution_tool_result" or
	// another.
	Type string `json:"type"`
	Text string `json:"text"`
	// ID, Name and Input are those of the use of a tool.
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// ToolUseID and Content are those of a result: the use that it is of.
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// BashResult is the content of the result of a command.
type BashResult struct {
	// Type is "bash_code_execution_result", or that of an error.
	Type       string `json:"type"`
	ReturnCode int    `json:"return_code"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	// Content are the files that were made.
	Content []struct {
		FileID string `json:"file_id"`
	} `json:"content"`
	// ErrorCode says why there is no result, such as "execution_time_exceeded".
	ErrorCode string `json:"error_code"`
}

// Message has a model go on. Where the API may have begun with it, it is not tried
// again, since programs may have run.
func (c *Client) Message(ctx context.Context, request MessageRequest) (message Message, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return Message{}, err
	}
	return message, c.do(ctx, call{
		method: http.MethodPost, path: []string{"messages"}, body: body, once: true,
		header: http.Header{"Content-Type": {"application/json"}},
	}, &message)
}
