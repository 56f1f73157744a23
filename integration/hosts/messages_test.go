package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// messagesRequest is a request of the Anthropic Messages API, as far as the
// stand-in for the model looks at it.
type messagesRequest struct {
	Model    string           `json:"model"`
	Stream   bool             `json:"stream"`
	System   blocks           `json:"system"`
	Messages []message        `json:"messages"`
	Tools    []toolDefinition `json:"tools"`
}

type toolDefinition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	DeferLoading bool            `json:"defer_loading"`
}

type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// block is a content block: text, image, tool_use or tool_result.
type block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`

	ID    string          `json:"id,omitempty"` // of a tool_use
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"` // of a tool_result
	IsError   bool   `json:"is_error,omitempty"`
	Content   blocks `json:"content,omitempty"`

	Source *imageSource `json:"source,omitempty"` // of an image
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"` // base64
}

// blocks is content, which may be written as a bare string.
type blocks []block

func (b *blocks) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*b = blocks{{Type: "text"}}
		return json.Unmarshal(data, &(*b)[0].Text)
	}
	return json.Unmarshal(data, (*[]block)(b))
}

// text joins the text blocks.
func (b blocks) text() string {
	var texts []string
	for _, block := range b {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ofType returns the blocks of one type.
func (b blocks) ofType(kind string) blocks {
	var some blocks
	for _, block := range b {
		if block.Type == kind {
			some = append(some, block)
		}
	}
	return some
}

// text is all that the model is given to read, tool results aside.
func (r messagesRequest) text() string {
	texts := []string{r.System.text()}
	for _, message := range r.Messages {
		texts = append(texts, message.Content.text())
	}
	return strings.Join(texts, "\n")
}

// tool returns the definition of a tool, if the model was given one.
func (r messagesRequest) tool(name string) (toolDefinition, bool) {
	for _, tool := range r.Tools {
		if tool.Name == name {
			return tool, true
		}
	}
	return toolDefinition{}, false
}

// answer is what a model says: text, or tools to use.
type answer struct {
	model  string
	blocks blocks
}

func (a answer) stopReason() string {
	if len(a.blocks.ofType("tool_use")) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (a answer) message(content blocks, stopReason any) map[string]any {
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": a.model,
		"content": content, "stop_reason": stopReason, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}
}

// writeJSON sends the answer as one JSON object.
func (a answer) writeJSON(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(a.message(a.blocks, a.stopReason()))
}

// writeStream sends the answer as the events that stream: true asks for.
func (a answer) writeStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	event("message_start", map[string]any{"message": a.message(blocks{}, nil)})
	for i, b := range a.blocks {
		start := map[string]any{"type": "text", "text": ""}
		delta := map[string]any{"type": "text_delta", "text": b.Text}
		if b.Type == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}
		}
		event("content_block_start", map[string]any{"index": i, "content_block": start})
		event("content_block_delta", map[string]any{"index": i, "delta": delta})
		event("content_block_stop", map[string]any{"index": i})
	}
	event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": a.stopReason(), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 1},
	})
	event("message_stop", map[string]any{})
}
