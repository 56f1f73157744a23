// Package failure holds the errors that clients see: stable codes, what
// happened, and what to do next. It maps every room's error once.
package failure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// Code is the stable name of a kind of failure.
type Code string

// Codes says what every code means; the table in docs/tools-and-errors.md is checked against it.
var Codes = map[Code]string{}

// The codes.
var (
	SkillNotFound      = meaning("skill_not_found", "No skill has that name.")
	InvalidFrontmatter = meaning("invalid_frontmatter", "The skill's entry document cannot be used as it is.")
	FileNotFound       = meaning("file_not_found", "The skill, the workspace or the user's directory has no such file, or it is hidden from programs.")
	InvalidPath        = meaning("invalid_path", "The path is empty, absolute, holds `..`, a backslash or NUL, or the URI is malformed.")
	PathEscape         = meaning("path_escape", "A link leads out of the skill, the workspace or the user's directory, or is in the way of writing.")
	IsDirectory        = meaning("is_directory", "A directory was given where a file is needed.")
	NotDirectory       = meaning("not_directory", "A file was given where a directory is needed.")
	SpecialFile        = meaning("special_file", "A device, FIFO or socket is never served, nor written to.")
	OutOfRange         = meaning("out_of_range", "Offset or length lie outside the file.")
	TooLarge           = meaning("too_large", "The file, the text for it, or the skill whose program is to run is over the hard limit.")
	NotText            = meaning("not_text", "The file is not UTF-8 text, so it cannot be edited.")
	TextNotFound       = meaning("text_not_found", "The text to be replaced is not in the file.")
	TextNotUnique      = meaning("text_not_unique", "The text to be replaced is in the file more than once.")
	PermissionDenied   = meaning("permission_denied", "The skill's allowed-tools, the file's permissions, or what protects the user's files forbid it.")
	InvalidArguments   = meaning("invalid_arguments", "The tool's arguments do not fit its schema.")
	InvalidCursor      = meaning("invalid_cursor", "The cursor is none that this server gave.")
	ToolNotFound       = meaning("tool_not_found", "The skill's tools.json has no such tool.")
	InvalidTools       = meaning("invalid_tools", "The skill's tools.json cannot be used.")
	ExecutionFailed    = meaning("execution_failed", "The program exited with a code other than 0, or was ended by a signal.")
	ExecutionTimeout   = meaning("execution_timeout", "The program ran longer than its limit and was killed.")
	ExecutionCanceled  = meaning("execution_canceled", "The caller went away or canceled, and the program was killed.")
	OutputLimit        = meaning("output_limit", "The program wrote more than the limit and was killed.")
	ContainerError     = meaning("container_error", "The container in which the program ran, or its engine, went away before the program's end, or does not tell how it ended.")
	SandboxUnavailable = meaning("sandbox_unavailable", "Nothing can be run: no sandbox is configured or available.")
	SandboxBusy        = meaning("sandbox_busy", "So many programs wait to be run, or requests to be answered, that no more are taken.")
	SandboxSetup       = meaning("sandbox_setup", "The program could not be started: a script or interpreter is missing or unusable, or the skill changes all the time.")
	WorkspaceUnknown   = meaning("workspace_unknown", "No workspace has that handle.")
	WorkspaceExpired   = meaning("workspace_expired", "The workspace's lifetime is over.")
	WorkspaceFull      = meaning("workspace_full", "The workspace, with the changes that are held, has more bytes or files than it may, or directories that cannot be looked into.")
	WorkspaceLimit     = meaning("workspace_limit", "Too many workspaces are in use.")
	ConsentUnavailable = meaning("consent_unavailable", "The user has to be asked first, and the client has no way to ask, or did not.")
	ConsentUnclear     = meaning("consent_unclear", "The client's answer for the user is none of the choices.")
	ConsentInvalid     = meaning("consent_invalid", "The `requestState` is none that the server gave, or was changed.")
	ConsentUnknown     = meaning("consent_unknown", "The `requestState` is of another process of the server, such as the one before a restart.")
	ConsentMismatch    = meaning("consent_mismatch", "The answer is to another question: of another caller, about another call, or about what has changed since.")
	ConsentExpired     = meaning("consent_expired", "The question was not answered in time.")
	ConsentUsed        = meaning("consent_used", "The `requestState` was used before, or given up for later ones.")
	ConsentBusy        = meaning("consent_busy", "Too many questions wait for an answer of the user.")
	AuditFailed        = meaning("audit_failed", "The call could not be recorded in the audit log, so nothing was done, or the result is withheld.")
	ChangesUnknown     = meaning("changes_unknown", "No change set of what this server shows has that id.")
	ChangesExpired     = meaning("changes_expired", "The change set was removed after a week without use.")
	ChangesStale       = meaning("changes_stale", "The change set holds something else now than what was looked at.")
	ChangesApplied     = meaning("changes_applied", "The changes were applied already.")
	ChangesBusy        = meaning("changes_busy", "A program, or another apply, uses the change set.")
	ChangesTooLarge    = meaning("changes_too_large", "The change set holds more than can be looked at or applied at once.")
	ChangesUnusable    = meaning("changes_unusable", "The directory that the changes are about, or the one that keeps them, cannot be used as it is, or its disk is full.")
	SecretNotFound     = meaning("secret_not_found", "A secret that the skill is granted is not at its source: there is no such variable, file, program or entry.")
	SecretFailed       = meaning("secret_source_failed", "The source of a secret that the skill is granted cannot be read.")
	SecretTimeout      = meaning("secret_source_timeout", "The source of a secret that the skill is granted did not answer in time.")
	SecretUnusable     = meaning("secret_unusable", "What the source of a secret holds cannot be a secret: it is empty, has several lines, or is too short or too long.")
	Internal           = meaning("internal_error", "A fault of the server; its log says more.")
)

func meaning(code Code, text string) Code {
	Codes[code] = text
	return code
}

// Failure is an error as clients see it.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Hint is what to do next.
	Hint string `json:"hint,omitempty"`
	// Cause is for the log only.
	Cause error `json:"-"`
	// URI is the resource that it is about, for JSON-RPC errors.
	URI string `json:"-"`
}

func (f *Failure) Error() string {
	text := string(f.Code) + ": " + f.Message
	if f.Hint != "" {
		text += "\nNext: " + f.Hint
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Cause }

// New returns a failure whose message is formatted as by [fmt.Sprintf].
func New(code Code, hint, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// ToolResult is the failure as a tool's answer.
func (f *Failure) ToolResult() *mcp.CallToolResult { return f.Mark(mcp.NewToolResultError(f.Error())) }

// Mark puts the failure into an answer's _meta, for programs: models read it in
// the content. It returns the answer.
func (f *Failure) Mark(answer *mcp.CallToolResult) *mcp.CallToolResult {
	answer.Meta = &mcp.Meta{AdditionalFields: map[string]any{"error": f}}
	return answer
}

// Log says what failed, and the cause of what is a fault of ours.
func (f *Failure) Log(log *slog.Logger, what string) {
	if f.Code == Internal {
		log.Error("tool failed", "tool", what, "code", f.Code, "error", f.Cause)
		return
	}
	log.Info("tool refused", "tool", what, "code", f.Code, "message", f.Message)
}

// Of maps any room's error once. What it does not know becomes an
// internal error without detail, since its text may hold host paths.
func Of(err error) *Failure {
	if known, ok := errors.AsType[*Failure](err); ok {
		return known
	}
	f := mapped(err)
	f.Cause = err
	return f
}

func mapped(err error) *Failure {
	if path, ok := errors.AsType[*contained.Error](err); ok {
		return &Failure{Code: cmp.Or(pathCodes[path.Rule], Internal), Message: path.Message, Hint: path.Hint}
	}
	if setup, ok := errors.AsType[*sandbox.SetupError](err); ok {
		return &Failure{Code: SandboxSetup, Message: setup.Message, Hint: setup.Hint}
	}
	if stale, ok := errors.AsType[*changes.StaleError](err); ok {
		return &Failure{Code: ChangesStale, Message: "the changes are others now than those that were looked at", Hint: afterStale(stale.Held)}
	}
	if applied, ok := errors.AsType[*changes.AppliedError](err); ok {
		return &Failure{Code: ChangesApplied, Message: "these changes were applied already, at " + applied.When.Format(time.DateTime), Hint: afterApplied(applied)}
	}
	for _, known := range conditions {
		if errors.Is(err, known.err) {
			return known.failure()
		}
	}
	return &Failure{Code: Internal, Message: "the server failed to answer this request", Hint: "Try once more; if it stays, the server's log says why."}
}

// condition is an error of another room that is no type. Without a message of
// ours it is that of the error, and its advice, which follows a colon, is the hint.
type condition struct {
	err           error
	code          Code
	message, hint string
}

const (
	hintNewWorkspace = "Call exec without `workspace` to get a new one."
	hintNotRunning   = "Do the task without running scripts, or ask the user to restart skills-mcp."
)

var conditions = []condition{
	{workspaces.ErrUnknown, WorkspaceUnknown, "no workspace has that handle", hintNewWorkspace},
	{workspaces.ErrExpired, WorkspaceExpired, "that workspace's lifetime is over and its files are gone", hintNewWorkspace},
	{workspaces.ErrFull, WorkspaceLimit, "too many workspaces are in use", "Wait until a run has ended, or go on in a workspace that you have."},
	{queue.ErrBusy, SandboxBusy, "too many programs are waiting to be run", "Wait until some of yours have ended, then try again."},
	{sandbox.ErrUnavailable, SandboxUnavailable, "the sandbox cannot run anything now", hintNotRunning},
	{workspaces.ErrClosed, SandboxUnavailable, "the sandbox cannot run anything now", hintNotRunning},
	{staging.ErrClosed, SandboxUnavailable, "the sandbox cannot run anything now", hintNotRunning},
	{changes.ErrUnknown, ChangesUnknown, "no change set has that id", "Give the id of the newest result that names one; exec returns it."},
	{err: changes.ErrExpired, code: ChangesExpired},
	{err: changes.ErrBusy, code: ChangesBusy},
	{err: changes.ErrTooLarge, code: ChangesTooLarge},
	{err: changes.ErrTargetGone, code: ChangesUnusable},
	{err: changes.ErrTargetReplaced, code: ChangesUnusable},
	{err: changes.ErrTargetUnusable, code: ChangesUnusable},
	{err: changes.ErrFull, code: ChangesUnusable},
	{err: changes.ErrUnsupported, code: ChangesUnusable},
	{err: changes.ErrState, code: ChangesUnusable},
	{err: context.Canceled, code: ExecutionCanceled, message: "the request was canceled"},
	{err: context.DeadlineExceeded, code: ExecutionCanceled, message: "the request was canceled"},
}

func (c condition) failure() *Failure {
	if c.message != "" {
		return &Failure{Code: c.code, Message: c.message, Hint: c.hint}
	}
	message, hint, _ := strings.Cut(c.err.Error(), ": ")
	if hint != "" {
		hint = strings.ToUpper(hint[:1]) + hint[1:] + "."
	}
	return &Failure{Code: c.code, Message: message, Hint: hint}
}

// pathCodes are those of refused paths and reads. Any other refusal is a fault
// of ours.
var pathCodes = map[contained.Rule]Code{
	contained.NotFound:     FileNotFound,
	contained.Invalid:      InvalidPath,
	contained.Absolute:     InvalidPath,
	contained.Traversal:    InvalidPath,
	contained.Escape:       PathEscape,
	contained.IsDirectory:  IsDirectory,
	contained.NotDirectory: NotDirectory,
	contained.SpecialFile:  SpecialFile,
	contained.OutOfRange:   OutOfRange,
	contained.TooLarge:     TooLarge,
	contained.Denied:       PermissionDenied,
}

// Denied is the failure of a policy's decision.
func Denied(skill string, decision policy.Decision) *Failure {
	return New(PermissionDenied, decision.Hint, "%s (skill %q, rule %q)", strings.TrimSuffix(decision.Reason, "."), skill, decision.Rule)
}

// NoSkill names what the caller may have meant.
func NoSkill(name string, near []string) *Failure {
	hint := "Call findSkills to see the skills there are."
	if len(near) > 0 {
		hint = `Did you mean "` + strings.Join(near, `" or "`) + `"? ` + hint
	}
	return New(SkillNotFound, hint, "there is no skill named %q", truncate.After(name, 80))
}
