package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

const (
	// maxContinuations is how often a turn that paused is gone on with.
	maxContinuations = 10
	// maxTokens is what a model may say, which has one command to say and may think
	// before.
	maxTokens = 4096
	// maxQuoted is how much of what a model did a reason quotes.
	maxQuoted = 120
)

const instructions = `You start a program for another computer, which reads nothing that you write. The user's message has one command between <command> and </command>. ` +
	`Use the code execution tool exactly once: run that command with bash, byte for byte as it stands there, and change nothing about it. ` +
	`Run nothing before it and nothing after it, use no other tool, and never run it again, whatever it returns: it reports its own faults. Then end your turn with the word done.`

// exchange is one turn of a model, which was asked to run a command.
type exchange struct {
	api     *anthropic.Client
	model   string
	command string
	// began reports that something may have run.
	began bool

	use    string // the id of the use of the tool; empty before
	result *anthropic.BashResult
	cost   cost
}

// cost is what an exchange cost.
type cost struct {
	requests      int
	input, output int64
}

// mismatch is why nothing of a turn, or of what came of it, is taken. It may be
// shown to clients, and may quote what others wrote.
type mismatch string

func (m mismatch) Error() string { return string(m) }

// run has the model run the command, with uploaded files in the container, and
// returns the result of the tool.
func (e *exchange) run(ctx context.Context, skills []anthropic.ContainerSkill, files []string) (*anthropic.BashResult, error) {
	var asked []any
	for _, file := range files {
		asked = append(asked, anthropic.Upload(file))
	}
	asked = append(asked, anthropic.Text("<command>\n"+e.command+"\n</command>"))
	request := anthropic.MessageRequest{
		Model: e.model, MaxTokens: maxTokens, System: instructions,
		Tools:    []anthropic.Tool{{Type: anthropic.CodeExecution, Name: "code_execution"}},
		Messages: []anthropic.Turn{{Role: "user", Content: asked}},
	}
	if len(skills) > 0 {
		request.Container = &anthropic.ContainerParams{Skills: skills}
	}
	var said []any
	for range 1 + maxContinuations {
		message, err := e.ask(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, block := range message.Content {
			if err := e.take(block); err != nil {
				return nil, err
			}
			said = append(said, block)
		}
		if message.StopReason != anthropic.PauseTurn {
			return e.end(message.StopReason)
		}
		if e.result != nil { // what is not gone on with runs nothing
			return e.result, nil
		}
		request.Container = &anthropic.ContainerParams{ID: message.Container.ID, Skills: skills}
		request.Messages = append(request.Messages[:1:1], anthropic.Turn{Role: "assistant", Content: said})
	}
	return nil, mismatch(fmt.Sprintf("the model had not ended its turn after %d continuations", maxContinuations))
}

// ask makes one request.
func (e *exchange) ask(ctx context.Context, request anthropic.MessageRequest) (anthropic.Message, error) {
	message, err := e.api.Message(ctx, request)
	e.cost.requests++
	if err != nil {
		e.began = e.began || anthropic.Begun(err)
		return message, err
	}
	e.cost.input += message.Usage.InputTokens
	e.cost.output += message.Usage.OutputTokens
	return message, nil
}

// take holds one block to what was asked for.
func (e *exchange) take(raw json.RawMessage) error {
	var block anthropic.Block
	if err := json.Unmarshal(raw, &block); err != nil {
		e.began = true
		return mismatch("the answer has a block that is none")
	}
	switch block.Type {
	case "text", "thinking", "redacted_thinking":
		return nil
	}
	e.began = true
	switch {
	case block.Type == "server_tool_use" && e.use == "" && block.ID != "":
		e.use = block.ID
		return e.checkUse(block)
	case block.Type == "bash_code_execution_tool_result" && e.use != "" && e.result == nil && block.ToolUseID == e.use:
		return e.takeResult(block)
	case block.Type == "server_tool_use" && e.result == nil:
		return mismatch("the model ran something besides the command that it was given")
	case block.Type == "server_tool_use":
		return mismatch("the model ran something after the command that it was given, which has run")
	case block.ToolUseID != "":
		return mismatch("the answer has a result of something that was not asked for")
	}
	return mismatch(fmt.Sprintf("the answer has a block of type %q, which is none of running a command", quoted(block.Type)))
}

// checkUse holds the use of a tool to the command.
func (e *exchange) checkUse(block anthropic.Block) error {
	if block.Name != "bash_code_execution" {
		return mismatch(fmt.Sprintf("the model used the tool %q instead of running the command that it was given", quoted(block.Name)))
	}
	command, ok := commandIn(block.Input)
	switch {
	case !ok:
		return mismatch("the model gave the tool something else than a command alone")
	case command != e.command:
		return mismatch(fmt.Sprintf("the model ran another command than the one that it was given: %q", quoted(command)))
	}
	return nil
}

// commandIn returns the command of an input that has nothing else, and has it once:
// of two that have the same name, who runs them may see the other one.
func commandIn(input json.RawMessage) (command string, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(input))
	var tokens []json.Token
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", false
		}
		tokens = append(tokens, token)
	}
	if len(tokens) != 4 || tokens[0] != json.Delim('{') || tokens[1] != "command" || tokens[3] != json.Delim('}') {
		return "", false
	}
	command, ok = tokens[2].(string)
	return command, ok
}

func (e *exchange) takeResult(block anthropic.Block) error {
	var result anthropic.BashResult
	if err := json.Unmarshal(block.Content, &result); err != nil {
		return mismatch("the result of the command is not what is documented")
	}
	e.result = &result
	return nil
}

// end returns the result of a turn that is over.
func (e *exchange) end(reason string) (*anthropic.BashResult, error) {
	switch {
	case e.result != nil:
		return e.result, nil
	case e.use != "":
		return nil, mismatch(fmt.Sprintf("the turn ended (%s) before the command had a result", quoted(reason)))
	}
	return nil, mismatch(fmt.Sprintf("the model ended its turn (%s) and ran nothing", quoted(reason)))
}

// tail is the end of what a command printed, for the log.
func tail(text string) string { return strings.ToValidUTF8(text[max(0, len(text)-1000):], "\uFFFD") }

func quoted(text string) string { return truncate.To(strings.ToValidUTF8(text, "\uFFFD"), maxQuoted) }
