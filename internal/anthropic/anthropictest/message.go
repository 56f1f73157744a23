package anthropictest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
)

// Model says what a model does in a turn, once it has read which command it is to
// run: what stands between <command> and </command> in the request.
type Model func(command string) []Step

// Step is one thing that a model does, or that happens to it. Exactly one of its
// fields is set, but for Late.
type Step struct {
	// Text is said.
	Text string
	// Run is a command that is run in the container, for which the API takes one
	// more request where Late is set.
	Run  string
	Late bool
	// ErrorCode is that of a command that the API does not run, which is the one
	// that the model was to run.
	ErrorCode string
	// Edit is a file that is made with the tool that edits files.
	Edit string
	// Block is any block.
	Block map[string]any
	// Pause ends the answer; the next one goes on.
	Pause bool
	// Stop ends the turn for a reason.
	Stop string
	// Refuse answers the request with an error of a type.
	Refuse string
	// Hold is waited for, until it is closed.
	Hold <-chan struct{}
	// Do is called.
	Do func()
}

// Obedient runs what it is told to.
func Obedient(command string) []Step { return []Step{{Run: command}, {Text: "Done."}} }

// Behave has the model of the next turns behave so.
func (s *Server) Behave(model Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = model
}

// messageRequest is a request as it comes.
type messageRequest struct {
	Model     string                     `json:"model"`
	MaxTokens int                        `json:"max_tokens"`
	System    string                     `json:"system"`
	Container *anthropic.ContainerParams `json:"container"`
	Tools     []anthropic.Tool           `json:"tools"`
	Messages  []struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"messages"`
}

// turn is one that may go on.
type turn struct {
	read  bool // by the model
	steps []Step
	late  string // the use that has no result yet, of the first step
	said  []json.RawMessage
}

var commandText = regexp.MustCompile(`(?s)<command>\n(.*)\n</command>`)

// createMessage has the model do what it does until its turn is over, or pauses. It
// takes the lock itself, since programs run meanwhile.
func (s *Server) createMessage(r *http.Request) (any, error) {
	var request messageRequest
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return nil, invalid("the body is not what is documented: %v", err)
	}
	if err := request.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	model := s.model
	box, err := s.containerOf(request.Container)
	if err == nil {
		err = s.beginTurn(box, request)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	box.busy.Lock()
	defer box.busy.Unlock()
	if t := box.turn; !t.read {
		t.read, t.steps = true, model(box.asked)
	}
	stop, content, err := s.goOn(box)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{
		"id": s.newID("msg"), "type": "message", "role": "assistant", "model": request.Model, "content": content, "stop_reason": stop,
		"stop_sequence": nil, "container": map[string]any{"id": box.id, "expires_at": box.expires},
		"usage": map[string]any{"input_tokens": 1000, "output_tokens": 100},
	}, nil
}

func (r *messageRequest) check() error {
	switch {
	case r.Model == "":
		return invalid("model: field required")
	case r.Model != ModelName:
		return &apiError{http.StatusNotFound, "not_found_error", "model: " + r.Model}
	case r.MaxTokens < 1:
		return invalid("max_tokens: must be at least 1")
	case len(r.Messages) == 0 || r.Messages[0].Role != "user":
		return invalid("messages: the first must be of the user")
	case !slices.Contains(r.Tools, anthropic.Tool{Type: anthropic.CodeExecution, Name: "code_execution"}):
		return invalid("tools: a container needs the code execution tool")
	case r.Container != nil && r.Container.ID == "" && len(r.Container.Skills) == 0:
		return invalid("container: neither an id nor skills")
	case r.Container != nil && len(r.Container.Skills) > anthropic.MaxContainerSkills:
		return invalid("container.skills: at most %d", anthropic.MaxContainerSkills)
	}
	return nil
}

// beginTurn has the model read a request, or go on where it is its own turn.
func (s *Server) beginTurn(box *container, request messageRequest) error {
	last := request.Messages[len(request.Messages)-1]
	if last.Role == "assistant" {
		if box.turn == nil || !slices.EqualFunc(last.Content, box.turn.said, sameJSON) {
			return invalid("messages: the turn was not paused with this content")
		}
		return nil
	}
	box.turn = &turn{}
	for _, raw := range last.Content {
		var block struct {
			Type   string `json:"type"`
			Text   string `json:"text"`
			FileID string `json:"file_id"`
		}
		if err := json.Unmarshal(raw, &block); err != nil {
			return invalid("messages: no block")
		}
		switch block.Type {
		case "container_upload":
			if err := s.put(box, block.FileID); err != nil {
				return err
			}
		case "text":
			if found := commandText.FindStringSubmatch(block.Text); found != nil {
				box.asked = found[1]
			}
		default:
			return invalid("messages: blocks of type %s are not permitted here", block.Type)
		}
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	var one, other bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&other, b) == nil && bytes.Equal(one.Bytes(), other.Bytes())
}

// goOn takes the steps of a turn until it pauses or is over.
func (s *Server) goOn(box *container) (stop string, content []json.RawMessage, err error) {
	t, stop := box.turn, "end_turn"
	say := func(block map[string]any) {
		raw, _ := json.Marshal(block) // of maps and strings
		content, t.said = append(content, raw), append(t.said, raw)
	}
	for len(t.steps) > 0 && stop == "end_turn" {
		step := t.steps[0]
		t.steps = t.steps[1:]
		switch {
		case step.Pause:
			stop = "pause_turn"
		case step.Stop != "":
			stop, t.steps = step.Stop, nil
		case step.Refuse != "":
			return "", nil, &apiError{statuses[step.Refuse], step.Refuse, "it went wrong meanwhile"}
		case step.Hold != nil:
			select {
			case <-step.Hold:
			case <-s.ctx.Done():
			}
		case step.Do != nil:
			step.Do()
		case step.Text != "":
			say(map[string]any{"type": "text", "text": step.Text})
		case step.Block != nil:
			say(step.Block)
		case step.Edit != "":
			s.edit(step.Edit, say)
		case step.Late && t.late == "":
			t.late = s.use("bash_code_execution", map[string]string{"command": step.Run}, say)
			t.steps, stop = slices.Insert(t.steps, 0, step), "pause_turn"
		case step.Late:
			say(s.result(t.late, s.run(box, step.Run)))
			t.late = ""
		case step.ErrorCode != "":
			id := s.use("bash_code_execution", map[string]string{"command": box.asked}, say)
			say(s.result(id, map[string]any{"type": "bash_code_execution_tool_result_error", "error_code": step.ErrorCode}))
		default:
			id := s.use("bash_code_execution", map[string]string{"command": step.Run}, say)
			say(s.result(id, s.run(box, step.Run)))
		}
	}
	return stop, content, nil
}

// statuses are those of errors that happen while a model is at work.
var statuses = map[string]int{
	"rate_limit_error": http.StatusTooManyRequests, "api_error": http.StatusInternalServerError, "overloaded_error": 529,
}

// use says that a tool is used, and returns the use's id.
func (s *Server) use(tool string, input map[string]string, say func(map[string]any)) string {
	s.mu.Lock()
	id := s.newID("srvtoolu")
	s.mu.Unlock()
	say(map[string]any{"type": "server_tool_use", "id": id, "name": tool, "input": input})
	return id
}

func (s *Server) result(id string, content map[string]any) map[string]any {
	return map[string]any{"type": "bash_code_execution_tool_result", "tool_use_id": id, "content": content}
}

func (s *Server) edit(name string, say func(map[string]any)) {
	id := s.use("text_editor_code_execution", map[string]string{"command": "create", "path": name, "file_text": "x"}, say)
	say(map[string]any{
		"type": "text_editor_code_execution_tool_result", "tool_use_id": id,
		"content": map[string]any{"type": "text_editor_code_execution_create_result", "is_file_update": false},
	})
}
