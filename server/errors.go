package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Code is the stable name of a kind of failure.
type Code string

// The codes. Their meanings stand in [Codes].
const (
	CodeSkillNotFound      Code = "skill_not_found"
	CodeInvalidFrontmatter Code = "invalid_frontmatter"
	CodeFileNotFound       Code = "file_not_found"
	CodeInvalidPath        Code = "invalid_path"
	CodePathEscape         Code = "path_escape"
	CodeIsDirectory        Code = "is_directory"
	CodeNotDirectory       Code = "not_directory"
	CodeSpecialFile        Code = "special_file"
	CodeOutOfRange         Code = "out_of_range"
	CodeTooLarge           Code = "too_large"
	CodeNotText            Code = "not_text"
	CodeTextNotFound       Code = "text_not_found"
	CodeTextNotUnique      Code = "text_not_unique"
	CodePermissionDenied   Code = "permission_denied"
	CodeInvalidArguments   Code = "invalid_arguments"
	CodeInvalidCursor      Code = "invalid_cursor"
	CodeToolNotFound       Code = "tool_not_found"
	CodeInvalidTools       Code = "invalid_tools"
	CodeExecutionFailed    Code = "execution_failed"
	CodeExecutionTimeout   Code = "execution_timeout"
	CodeExecutionCanceled  Code = "execution_canceled"
	CodeOutputLimit        Code = "output_limit"
	CodeSandboxUnavailable Code = "sandbox_unavailable"
	CodeSandboxBusy        Code = "sandbox_busy"
	CodeSandboxSetup       Code = "sandbox_setup"
	CodeWorkspaceUnknown   Code = "workspace_unknown"
	CodeWorkspaceExpired   Code = "workspace_expired"
	CodeWorkspaceFull      Code = "workspace_full"
	CodeWorkspaceLimit     Code = "workspace_limit"
	CodeInternal           Code = "internal_error"
)

// Codes tells what every code means; README's table is checked against it.
var Codes = map[Code]string{
	CodeSkillNotFound:      "No skill has that name.",
	CodeInvalidFrontmatter: "The skill's entry document cannot be parsed any more.",
	CodeFileNotFound:       "The skill or workspace has no such file.",
	CodeInvalidPath:        "The path is empty, absolute, holds `..`, a backslash or NUL, or the URI is malformed.",
	CodePathEscape:         "A link leads out of the skill or workspace, or is in the way of writing.",
	CodeIsDirectory:        "A directory was given where a file is needed.",
	CodeNotDirectory:       "A file was given where a directory is needed.",
	CodeSpecialFile:        "A device, FIFO or socket is never served, nor written to.",
	CodeOutOfRange:         "Offset or length lie outside the file.",
	CodeTooLarge:           "The file, the text for it, or the skill whose program is to run is over the hard limit.",
	CodeNotText:            "The file is not UTF-8 text, so it cannot be edited.",
	CodeTextNotFound:       "The text to be replaced is not in the file.",
	CodeTextNotUnique:      "The text to be replaced is in the file more than once.",
	CodePermissionDenied:   "The skill's allowed-tools, or the file's permissions, forbid it.",
	CodeInvalidArguments:   "The tool's arguments do not fit its schema.",
	CodeInvalidCursor:      "The cursor is none that this server gave.",
	CodeToolNotFound:       "The skill's tools.json has no such tool.",
	CodeInvalidTools:       "The skill's tools.json cannot be used.",
	CodeExecutionFailed:    "The program exited with a code other than 0, or was ended by a signal.",
	CodeExecutionTimeout:   "The program ran longer than its limit and was killed.",
	CodeExecutionCanceled:  "The caller went away or canceled, and the program was killed.",
	CodeOutputLimit:        "The program wrote more than the limit and was killed.",
	CodeSandboxUnavailable: "Nothing can be run: no sandbox is configured or available.",
	CodeSandboxBusy:        "So many programs wait to be run, or requests to be answered, that no more are taken.",
	CodeSandboxSetup:       "The program could not be started: a script or interpreter is missing or unusable, or the skill changes all the time.",
	CodeWorkspaceUnknown:   "No workspace has that handle.",
	CodeWorkspaceExpired:   "The workspace's lifetime is over.",
	CodeWorkspaceFull:      "The workspace holds more bytes or files than it may, or directories that cannot be looked into.",
	CodeWorkspaceLimit:     "Too many workspaces are in use.",
	CodeInternal:           "A fault of the server; its log says more.",
}

// failure is an error as clients see it.
type failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Hint is what to do next.
	Hint string `json:"hint,omitempty"`
	// cause is for the log only.
	cause error
	// uri is the resource that it is about, for JSON-RPC errors.
	uri string
}

func (f *failure) Error() string {
	text := string(f.Code) + ": " + f.Message
	if f.Hint != "" {
		text += "\nNext: " + f.Hint
	}
	return text
}

func (f *failure) Unwrap() error { return f.cause }

func failf(code Code, hint, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// toolResult is the failure as a tool's answer.
func (f *failure) toolResult() *mcp.CallToolResult {
	return mcp.NewToolResultError(f.Error())
}

// asFailure maps any room's error once. What it does not know becomes an
// internal error without detail, since its text may hold host paths.
func asFailure(err error) *failure {
	var (
		known *failure
		path  *resources.Error
		setup *sandbox.SetupError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &path):
		return &failure{Code: pathCode(path.Rule), Message: path.Message, Hint: path.Hint, cause: err}
	case errors.As(err, &setup):
		return &failure{Code: CodeSandboxSetup, Message: setup.Message, Hint: setup.Hint, cause: err}
	case errors.Is(err, sandbox.ErrWorkspaceUnknown):
		return &failure{Code: CodeWorkspaceUnknown, Message: "no workspace has that handle", Hint: hintNewWorkspace, cause: err}
	case errors.Is(err, sandbox.ErrWorkspaceExpired):
		return &failure{Code: CodeWorkspaceExpired, Message: "that workspace's lifetime is over and its files are gone", Hint: hintNewWorkspace, cause: err}
	case errors.Is(err, sandbox.ErrWorkspacesFull):
		return &failure{Code: CodeWorkspaceLimit, Message: "too many workspaces are in use", Hint: "Wait until a run has ended, or go on in a workspace that you have.", cause: err}
	case errors.Is(err, sandbox.ErrBusy):
		return &failure{Code: CodeSandboxBusy, Message: "too many programs are waiting to be run", Hint: "Wait until some of yours have ended, then try again.", cause: err}
	case errors.Is(err, sandbox.ErrUnavailable), errors.Is(err, sandbox.ErrWorkspacesClosed), errors.Is(err, resources.ErrCopiesClosed):
		return &failure{Code: CodeSandboxUnavailable, Message: "the sandbox cannot run anything now", Hint: "Do the task without running scripts, or ask the user to restart skills-mcp.", cause: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &failure{Code: CodeExecutionCanceled, Message: "the request was canceled", cause: err}
	}
	return &failure{Code: CodeInternal, Message: "the server failed to answer this request", Hint: "Try once more; if it stays, the server's log says why.", cause: err}
}

const hintNewWorkspace = "Call exec without `workspace` to get a new one."

// pathCode gives the code of a refused path or read.
func pathCode(rule resources.Rule) Code {
	switch rule {
	case resources.NotFound:
		return CodeFileNotFound
	case resources.Invalid, resources.Absolute, resources.Traversal:
		return CodeInvalidPath
	case resources.Escape:
		return CodePathEscape
	case resources.IsDirectory:
		return CodeIsDirectory
	case resources.NotDirectory:
		return CodeNotDirectory
	case resources.SpecialFile:
		return CodeSpecialFile
	case resources.OutOfRange:
		return CodeOutOfRange
	case resources.TooLarge:
		return CodeTooLarge
	case resources.Denied:
		return CodePermissionDenied
	}
	return CodeInternal
}

// denied is the failure of a policy's decision.
func denied(skill string, decision policy.Decision) *failure {
	return failf(CodePermissionDenied, decision.Hint, "%s (skill %q, rule %q)", strings.TrimSuffix(decision.Reason, "."), skill, decision.Rule)
}

// skillNotFound names what the caller may have meant.
func skillNotFound(name string, near []string) *failure {
	hint := "Call findSkills to see the skills there are."
	if len(near) > 0 {
		quoted := slices.Clone(near)
		for i, n := range quoted {
			quoted[i] = "\"" + n + "\""
		}
		hint = "Did you mean " + strings.Join(quoted, " or ") + "? " + hint
	}
	return failf(CodeSkillNotFound, hint, "there is no skill named %q", clip(name, 80))
}

// clip shortens text that a caller chose to at most n characters.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n]) + "…"
}
