package audit

import (
	"encoding/json"
	"time"
)

// Version is the version of the format of records. It changes where a field
// gets another meaning or goes away, not where one is added.
const Version = 1

// Record is one line of the audit log: something that was asked for, and what
// came of it. Fields that are zero are left out, but for the first four and the
// outcome. All text in it is cut to a bounded length.
type Record struct {
	// Version is [Version].
	Version int `json:"v"`
	// ID is 16 hexadecimal digits, other ones in each record.
	ID string `json:"id"`
	// Time is when it was asked for, in UTC, with nanoseconds.
	Time time.Time `json:"time"`
	// Event is what kind of thing was asked for.
	Event Event `json:"event"`
	// Server is 8 hexadecimal digits of one process of skills-mcp.
	Server string `json:"server,omitempty"`
	// Session is a name of the client's session: "stdio", or for HTTP
	// a digest of its id. Empty where every request stands alone.
	Session string `json:"session,omitempty"`
	// Caller is who asked, as far as that is known: the address of an HTTP
	// client, or "command line".
	Caller string `json:"caller,omitempty"`
	// Method is the protocol's method, such as tools/call, or the subcommand of
	// skills-mcp.
	Method string `json:"method,omitempty"`
	// Tool is the name of the tool that was called.
	Tool string `json:"tool,omitempty"`
	// Skill is the name of the skill that it was about, and Digest the version of
	// it that was read or run, where one was fixed.
	Skill  string `json:"skill,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Input is what was asked for, without secrets and long texts: an object.
	// [Redact] says what is left.
	Input json.RawMessage `json:"input,omitempty"`
	// Decision is what the policy or the user said, "allow", "ask" or "deny", by
	// the rule of that name. Empty where nobody was asked.
	Decision string `json:"decision,omitempty"`
	Rule     string `json:"rule,omitempty"`
	// Answer is what the user said where they were asked: "once", "session" or
	// "always" where they allowed it, else "declined" or "canceled"; or "revoked".
	Answer string `json:"answer,omitempty"`
	// Granted is what a run was given besides its skill and workspace, such as
	// "project review /home/me/work".
	Granted []string `json:"granted,omitempty"`
	// Asked are hosts that were not granted to a run, about which the user was asked,
	// each with the answer, as Answer has it; or "unanswered", or "later" where the
	// user is asked when the same is run again.
	Asked []string `json:"asked,omitempty"`
	// Hosts are those that a run asked for, and HostsOmitted how many requests
	// there were for further ones. SecretsSent are the names of secrets whose
	// values went to their hosts.
	Hosts        []Host   `json:"hosts,omitempty"`
	HostsOmitted int      `json:"hostsOmitted,omitempty"`
	SecretsSent  []string `json:"secretsSent,omitempty"`
	// Outcome says how it went.
	Outcome Outcome `json:"outcome"`
	// Error is the code of the error that the client got.
	Error string `json:"error,omitempty"`
	// DurationMs is how long it took, in milliseconds, waiting included.
	DurationMs float64 `json:"durationMs,omitempty"`
	// Status is how a program ended, as in the result of exec, and ExitCode its
	// exit code where it exited.
	Status   string `json:"status,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
	// Workspace is the beginning of the handle of the workspace; the whole would
	// let its reader in.
	Workspace string `json:"workspace,omitempty"`
	// Artifacts are files that a run made or changed, and ArtifactsOmitted how
	// many more there were.
	Artifacts        []File `json:"artifacts,omitempty"`
	ArtifactsOmitted int    `json:"artifactsOmitted,omitempty"`
	// Changes is what became of the user's own files, one for each directory.
	Changes []Changes `json:"changes,omitempty"`
	// Backend and Tier name the sandbox in force.
	Backend string `json:"backend,omitempty"`
	Tier    string `json:"tier,omitempty"`
}

// Event is what kind of thing a record is about.
type Event string

// The events.
const (
	// Call is a call of a tool.
	Call Event = "call"
	// Read is a reading of a skill or workspace by another way than a tool:
	// resources, prompts, the Skills extension.
	Read Event = "read"
	// Apply is a change of the user's files out of a change set, or its undoing,
	// by another way than a tool. What a run changes at its end, and the tool
	// applyChanges, are in the record of the call.
	Apply Event = "apply"
	// Answer is an answer of the user to a question of the server, or the
	// revocation of one.
	Answer Event = "answer"
)

// Outcome is how it went.
type Outcome string

// The outcomes.
const (
	// OK: what was asked for was done. A program that ran exited with 0.
	OK Outcome = "ok"
	// Asked: the user is asked first, and nothing was done yet. The call comes
	// again with the answer.
	Asked Outcome = "asked"
	// Denied: the policy or the user forbade it.
	Denied Outcome = "denied"
	// Failed: it was refused for another reason, or went wrong.
	Failed Outcome = "failed"
	// Unfinished: it was begun, and its end was not recorded. The process was
	// killed meanwhile, or the log could not be written.
	Unfinished Outcome = "unfinished"
)

// File is a file that a run made or changed.
type File struct {
	// Path is relative to the workspace.
	Path string `json:"path"`
	// Size is in bytes.
	Size int64 `json:"size"`
	// Digest is "sha256:" and the hash in hexadecimal; empty for very large
	// files.
	Digest string `json:"digest,omitempty"`
}

// Host is what became of what a run asked of one host.
type Host struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	// Requests were let through, and Refused were not, the last for Reason.
	Requests int    `json:"requests,omitempty"`
	Refused  int    `json:"refused,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Bytes are those sent and received.
	Bytes int64 `json:"bytes,omitempty"`
}

// Changes is what became of the user's own files in one directory, to which
// paths are relative.
type Changes struct {
	// ID names the change set, or the apply that was undone.
	ID string `json:"id,omitempty"`
	// Of is the directory.
	Of string `json:"of,omitempty"`
	// Discarded is set where changes were thrown away.
	Discarded bool `json:"discarded,omitempty"`
	// Held is how many changes wait to be applied.
	Held int `json:"held,omitempty"`
	// Applied were written, Conflicts had changed meanwhile and were not touched,
	// Refused may never be changed.
	Applied   []string `json:"applied,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
	Refused   []string `json:"refused,omitempty"`
	// Omitted is how many more paths there were.
	Omitted int `json:"omitted,omitempty"`
}
