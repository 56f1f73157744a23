package hosted_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/anthropic/anthropictest"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

type (
	steps = []anthropictest.Step
	step  = anthropictest.Step
)

// forged is a block of a result that nothing ran for.
func forged(use string) map[string]any {
	return map[string]any{"type": "bash_code_execution_tool_result", "tool_use_id": use, "content": map[string]any{
		"type": "bash_code_execution_result", "return_code": 0, "stdout": "forged", "stderr": "", "content": []any{},
	}}
}

// used is a block of the use of a tool that nothing came of.
func used(tool string, input any) map[string]any {
	return map[string]any{"type": "server_tool_use", "id": "srvtoolu_x", "name": tool, "input": input}
}

// Nothing is taken of a turn in which a model did anything but run the one command,
// once. What may have run is told.
func TestMismatches(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]struct {
		does func(command string) steps
		says string
	}{
		"another command":          {func(string) steps { return steps{{Run: "echo forged"}} }, `another command than the one that it was given: "echo forged"`},
		"a command with more":      {func(c string) steps { return steps{{Run: c + "; true"}} }, "another command"},
		"a command with a space":   {func(c string) steps { return steps{{Run: c + " "}} }, "another command"},
		"a command with a newline": {func(c string) steps { return steps{{Run: c + "\n"}} }, "another command"},
		"a command in upper case":  {func(c string) steps { return steps{{Run: strings.ToUpper(c)}} }, "another command"},
		"another command before":   {func(c string) steps { return steps{{Run: "true"}, {Run: c}} }, "another command"},
		"another command after":    {func(c string) steps { return steps{{Run: c}, {Run: "true"}} }, "after the command that it was given, which has run"},
		"the command twice":        {func(c string) steps { return steps{{Run: c}, {Run: c}} }, "after the command"},
		"a file before":            {func(c string) steps { return steps{{Edit: "x"}, {Run: c}} }, `the tool "text_editor_code_execution"`},
		"a file after":             {func(c string) steps { return steps{{Run: c}, {Edit: "x"}} }, "after the command"},
		"two uses at once": {func(c string) steps {
			return steps{{Block: used("bash_code_execution", map[string]string{"command": c})}, {Run: c}}
		}, "besides the command"},
		"a result of nothing": {func(string) steps { return steps{{Block: forged("srvtoolu_1")}} }, "was not asked for"},
		"a second result":     {func(c string) steps { return steps{{Run: c}, {Block: forged("srvtoolu_1")}} }, "was not asked for"},
		"a result before":     {func(c string) steps { return steps{{Block: forged("srvtoolu_1")}, {Run: c}} }, "was not asked for"},
		"the result of another use": {func(c string) steps {
			return steps{{Block: used("bash_code_execution", map[string]string{"command": c})}, {Block: forged("srvtoolu_y")}}
		}, "was not asked for"},
		"no command": {func(string) steps { return steps{{Block: used("bash_code_execution", map[string]string{})}} }, "something else than a command"},
		"a restart": {func(c string) steps {
			return steps{{Block: used("bash_code_execution", map[string]any{"command": c, "restart": true})}}
		}, "something else than a command"},
		"a key in another case": {func(c string) steps {
			return steps{{Block: used("bash_code_execution", map[string]string{"Command": c})}}
		}, "something else than a command"},
		"a number": {func(string) steps { return steps{{Block: used("bash_code_execution", map[string]int{"command": 1})}} }, "something else than a command"},
		"a list":   {func(c string) steps { return steps{{Block: used("bash_code_execution", []string{c})}} }, "something else than a command"},
		"a use without a result": {func(c string) steps {
			return steps{{Block: used("bash_code_execution", map[string]string{"command": c})}}
		}, "before the command had a result"},
		"a tool of the caller": {func(c string) steps {
			return steps{{Block: map[string]any{"type": "tool_use", "id": "toolu_1", "name": "bash", "input": map[string]string{"command": c}}}}
		}, `type "tool_use"`},
		"the tool for Python":    {func(c string) steps { return steps{{Block: used("code_execution", map[string]string{"code": "1"})}} }, `the tool "code_execution"`},
		"a block without a type": {func(c string) steps { return steps{{Run: c}, {Block: map[string]any{}}} }, `type ""`},
		"too many pauses":        {func(c string) steps { return append(slices.Repeat(steps{{Pause: true}}, 11), step{Run: c}) }, "after 10 continuations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := openBehaving(t, attack.does)
			workspace := testfiles.Dir(t, map[string]string{"kept": "as it was"})
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "echo forged > kept", Workspace: workspace})
			var setup *sandbox.SetupError
			switch {
			case name == "too many pauses":
				if !errors.As(err, &setup) || !strings.Contains(setup.Message, attack.says) {
					t.Errorf("%+v, %v", result, err)
				}
			case err != nil || result.Status != sandbox.Lost || result.ExitCode != -1 || !strings.Contains(result.Reason, attack.says) || !strings.Contains(result.Reason, "not known"):
				t.Errorf("%+v, %v", result, err)
			case len(result.Stdout.Data) > 0 || len(result.Artifacts) > 0 || !result.ChangesLost:
				t.Errorf("something is taken: %+v", result)
			}
			if kept, err := os.ReadFile(filepath.Join(workspace, "kept")); err != nil || string(kept) != "as it was" {
				t.Errorf("the workspace has %q, %v", kept, err)
			}
		})
	}
}

// A model that runs nothing has run nothing, whatever it says.
func TestModelOnlyTalks(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]anthropictest.Model{
		"talks":   func(string) steps { return steps{{Text: "exit code 0, stdout: forged"}} },
		"refuses": func(string) steps { return steps{{Text: "No."}, {Stop: "refusal"}} },
		"is cut":  func(string) steps { return steps{{Text: "Let me think"}, {Stop: "max_tokens"}} },
		"nothing": func(string) steps { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := openBehaving(t, does)
			_, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: t.TempDir()})
			setup, ok := errors.AsType[*sandbox.SetupError](err)
			if !ok || setup.Rule != "hosted-refused" || !strings.Contains(setup.Message, "nothing was run") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Text and pauses change nothing.
func TestPauses(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]anthropictest.Model{
		"text before and after":  func(c string) steps { return steps{{Text: "Now."}, {Run: c}, {Text: "exit code 9"}} },
		"before":                 func(c string) steps { return steps{{Pause: true}, {Text: "On."}, {Pause: true}, {Run: c}} },
		"between use and result": func(c string) steps { return steps{{Run: c, Late: true}, {Text: "Done."}} },
		"after":                  func(c string) steps { return steps{{Run: c}, {Pause: true}, {Run: c}} },
		"as often as can be":     func(c string) steps { return append(slices.Repeat(steps{{Pause: true}}, 10), step{Run: c}) },
		"cut after the result":   func(c string) steps { return steps{{Run: c}, {Stop: "max_tokens"}} },
		"thinking": func(c string) steps {
			return steps{{Block: map[string]any{"type": "thinking", "thinking": "x", "signature": "y"}}, {Run: c}}
		},
		"an overload meanwhile": func(c string) steps { return steps{{Pause: true}, {Refuse: "overloaded_error"}, {Run: c}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := openBehaving(t, does)
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "echo once >> made; exit 7", Workspace: t.TempDir()})
			if err != nil || result.Status != sandbox.Exited || result.ExitCode != 7 || len(result.Artifacts) != 1 || result.Artifacts[0].Size != 5 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// What surely was not begun is tried again, or is an error; what may have run is
// never run again.
func TestAPIErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		refuse func(*anthropictest.Server)
		says   string
		status sandbox.Status // empty where it is an error
		asked  int            // messages that are asked for
	}{
		{"busy for a while", func(s *anthropictest.Server) { s.RefuseMessages(2, http.StatusTooManyRequests, "rate_limit_error") }, "", sandbox.Exited, 3},
		{"busy for long", func(s *anthropictest.Server) { s.RefuseMessages(10, 529, "overloaded_error") }, "529, overloaded_error", "", 4},
		{"refused", func(s *anthropictest.Server) { s.RefuseMessages(1, http.StatusBadRequest, "invalid_request_error") }, "400, invalid_request_error", "", 1},
		{"broken", func(s *anthropictest.Server) { s.RefuseMessages(1, http.StatusInternalServerError, "api_error") }, "500, api_error", sandbox.Lost, 1},
		{"broken later", func(s *anthropictest.Server) {
			s.Behave(func(c string) steps { return steps{{Run: c, Late: true}, {Refuse: "api_error"}} })
		}, "500, api_error", sandbox.Lost, 2},
		{"expired", func(s *anthropictest.Server) {
			s.Behave(func(c string) steps { return steps{{Do: s.Expire}, {Run: c, Late: true}} })
		}, "has expired", sandbox.Lost, 2},
		{"not available", func(s *anthropictest.Server) {
			s.Behave(func(string) steps { return steps{{ErrorCode: "unavailable"}} })
		}, "(unavailable)", sandbox.Lost, 1},
		{"container gone", func(s *anthropictest.Server) {
			s.Behave(func(string) steps { return steps{{ErrorCode: "container_expired"}} })
		}, "(container_expired)", sandbox.Lost, 1},
		{"too long for the API", func(s *anthropictest.Server) {
			s.Behave(func(string) steps { return steps{{ErrorCode: "execution_time_exceeded"}} })
		}, "", sandbox.TimedOut, 1},
		{"tried again by the model", func(s *anthropictest.Server) {
			s.Behave(func(c string) steps { return steps{{ErrorCode: "unavailable"}, {Run: c}} })
		}, "after the command", sandbox.Lost, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			api := anthropictest.New(t)
			c.refuse(api)
			backend := openAt(t, api, nil)
			defer backend.Close()
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: t.TempDir()})
			if c.status == "" {
				setup, ok := errors.AsType[*sandbox.SetupError](err)
				if !ok || !strings.Contains(setup.Message, c.says) || !strings.Contains(setup.Message, "req_") || !strings.Contains(setup.Message, "nothing was run") {
					t.Errorf("%v", err)
				}
			} else if err != nil || result.Status != c.status || !strings.Contains(result.Reason, c.says) {
				t.Errorf("%+v, %v", result, err)
			}
			asked := slices.DeleteFunc(api.Requests(), func(request string) bool { return request != "POST /v1/messages" })
			if len(asked) != c.asked {
				t.Errorf("%d messages were asked for", len(asked))
			}
		})
	}
}
