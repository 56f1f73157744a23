package execution

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/library"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// OutputSchema describes the structured content of an answer, and
// LibrarySchema that of one where runs see all skills.
var (
	OutputSchema  = outputSchema("")
	LibrarySchema = outputSchema(library.ReportSchema + ",")
)

func outputSchema(more string) json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "status": {"type": "string", "enum": ["exited", "signaled", "timeout", "output_limit", "out_of_memory", "quota_exceeded", "canceled", "lost", "declined"], "description": "How the program ended; lost where what ran it went away, and declined where the user did not allow it to be run."},
    "exitCode": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "0 to 255; null where the program did not exit by itself."},
    "signal": {"type": "string", "description": "The signal that ended it."},
    "stdout": {"type": "string"},
    "stderr": {"type": "string"},
    "stdoutFile": {"type": "string", "description": "URI of the whole standard output, where it was too long to give here."},
    "stderrFile": {"type": "string", "description": "URI of the whole standard error, where it was too long to give here."},
    "durationMs": {"type": "integer"},
    "cpuMs": {"type": "integer", "description": "Processor time of all its processes."},
    "peakMemoryBytes": {"type": "integer", "description": "The most memory that they had at once; absent where it is not known."},
    "skillDigest": {"type": "string", "description": "The version of the skill that ran: sha256 over its paths, contents and executable bits. Absent where no skill was named."},
    "workspace": {"type": "string", "description": "Handle of the workspace; give it to the next exec to go on with its files."},
    "approval": {"type": "object", "description": "What the user answered; absent where the user did not have to be asked.", "properties": {
      "answer": {"type": "string", "enum": ["allowed", "declined", "canceled"]},
      "scope": {"type": "string", "enum": ["once", "session", "always"], "description": "For how long it is allowed."},
      "rule": {"type": "string", "description": "The setting by which the user is asked."},
      "notice": {"type": "string", "description": "What to do next where it was not allowed."}
    }, "required": ["answer", "rule"]},
    "artifacts": {"type": "array", "description": "Files that the run made or changed.", "items": ` + workspace.FileSchema + `},
    "artifactsOmitted": {"type": "integer", "description": "How many more there were: beyond the limit, links, special files."},
    "leftBehind": {"type": "array", "items": {"type": "string"}, "description": "Names of processes that still ran when the program had ended, and were ended then: what they offered is gone."},
    "leftBehindOmitted": {"type": "integer", "description": "How many more of them there were."},
    ` + shares.ReportSchema + `,
    ` + access.ReportSchema + `,
    ` + more + `
    "sandbox": {"type": "object", "properties": {
      "backend": {"type": "string"}, "tier": {"type": "string"}, "notice": {"type": "string"}
    }, "required": ["backend", "tier", "notice"]},
    "error": {"type": "object", "properties": {
      "code": {"type": "string"}, "message": {"type": "string"}, "hint": {"type": "string"}
    }, "required": ["code", "message"]}
  },
  "required": ["status", "exitCode", "stdout", "stderr", "durationMs", "workspace", "artifacts", "sandbox"]
}`)
}

// output holds all that a model needs, since hosts that see structured
// content show it nothing else.
type output struct {
	Status           sandbox.Status   `json:"status"`
	ExitCode         *int             `json:"exitCode"`
	Signal           string           `json:"signal,omitempty"`
	StdoutFile       string           `json:"stdoutFile,omitempty"`
	StderrFile       string           `json:"stderrFile,omitempty"`
	DurationMs       int64            `json:"durationMs"`
	CPUMs            int64            `json:"cpuMs"`
	PeakMemory       int64            `json:"peakMemoryBytes,omitempty"`
	SkillDigest      string           `json:"skillDigest,omitempty"`
	Workspace        string           `json:"workspace"`
	Approval         *approvalInfo    `json:"approval,omitempty"`
	Artifacts        []workspace.File `json:"artifacts"`
	ArtifactsOmitted int              `json:"artifactsOmitted,omitempty"`
	LeftBehind       []string         `json:"leftBehind,omitempty"`
	LeftOmitted      int              `json:"leftBehindOmitted,omitempty"`
	Sandbox          sandboxInfo      `json:"sandbox"`
	Error            *failure.Failure `json:"error,omitempty"`
	sharesReport
	accessReport
	libraryReport
	// What is long comes last, so that a host that cuts loses only of it.
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// What others report becomes a part of the output.
type (
	sharesReport  = shares.Report
	accessReport  = access.Report
	libraryReport = library.Report
)

type sandboxInfo struct {
	Backend string `json:"backend"`
	Tier    string `json:"tier"`
	Notice  string `json:"notice"`
}

// ran is a run that has ended.
type ran struct {
	// digest is that of the skill as the program saw it, or empty.
	digest   string
	approval consent.Answer
	// inProject says that the program was to start in the project.
	inProject bool
	result    sandbox.Result
	shared    shares.Report
	access    access.Report
	library   library.Report
	// advice adds to what to do next where the run failed; longest says that the
	// caller cannot give it more time.
	advice  string
	longest bool
}

// answer returns a run's outcome as structure, as text and as links.
func answer(ws workspaces.Workspace, ran ran) *mcp.CallToolResult {
	result := ran.result
	out := output{
		Status:           result.Status,
		Signal:           result.Signal,
		DurationMs:       result.Duration.Milliseconds(),
		CPUMs:            result.CPUTime.Milliseconds(),
		PeakMemory:       result.PeakMemoryBytes,
		SkillDigest:      ran.digest,
		Workspace:        ws.Handle,
		Approval:         approvalOf(ran.approval),
		Artifacts:        []workspace.File{},
		ArtifactsOmitted: result.ArtifactsOmitted,
		LeftOmitted:      result.LeftBehindOmitted,
		Sandbox:          sandboxInfo{result.Info.Backend, result.Info.Tier, result.Info.Notice},
		Error:            ran.failure(),
		sharesReport:     ran.shared,
		accessReport:     ran.access,
		libraryReport:    ran.library,
	}
	if result.Status == sandbox.TimedOut && ran.longest {
		out.Error.Hint = "It may not have more time: ask for less work at once."
	}
	switch {
	case out.Error == nil || ran.advice == "":
	case result.Status == sandbox.TimedOut: // more time would not help
		out.Error.Hint = ran.advice
	default:
		out.Error.Hint += " " + ran.advice
	}
	for _, name := range result.LeftBehind {
		out.LeftBehind = append(out.LeftBehind, display.Line(strings.ToValidUTF8(name, "\uFFFD")))
	}
	if result.Status == sandbox.Exited {
		out.ExitCode = &result.ExitCode
	}
	out.Stdout, out.StdoutFile = streamText(ws, result.Stdout)
	out.Stderr, out.StderrFile = streamText(ws, result.Stderr)
	for _, file := range result.Artifacts {
		out.Artifacts = append(out.Artifacts, workspace.NewFile(ws.Handle, file.Path, file.Size, file.Digest))
	}
	told := &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(out.text())},
		StructuredContent: out,
		IsError:           out.Error != nil,
	}
	if out.Error != nil {
		out.Error.Mark(told)
	}
	for _, file := range out.Artifacts {
		link := mcp.NewResourceLink(file.ID, file.Filename, "Made by this run, "+display.Size(file.Size), file.MIMEType)
		told.Content = append(told.Content, link)
	}
	return told
}

// failure says what went wrong with the run, or nothing. A program that was to
// start in the project and did not see it has looked at something else, whatever
// its exit code.
func (ran ran) failure() *failure.Failure {
	fault := runFailure(ran.result)
	project := ran.shared.Project
	if !ran.inProject || project == nil || project.Access != shares.Off {
		return fault
	}
	unseen := "the program did not see the user's project and started in the workspace instead, so what it says of files is not about the project: " + project.Reason
	if fault == nil {
		return failure.New(failure.ExecutionFailed, inWorkspaceHint, "exit code 0, but %s", unseen)
	}
	fault.Message += "; " + unseen
	fault.Hint = inWorkspaceHint + " " + fault.Hint
	return fault
}

// runFailure says what went wrong with a run, or nothing.
func runFailure(result sandbox.Result) *failure.Failure {
	ending := endingFailure(result)
	if ending != nil && result.Reason != "" {
		ending.Message = display.Line(result.Reason)
	}
	if !result.ChangesLost {
		return ending
	}
	const lost = "what the program changed in its copy of the workspace or the project could not be stored, in part or as a whole"
	if ending == nil {
		return failure.New(failure.ExecutionFailed, "Look at what the workspace holds, and run it again.", "exit code 0, but %s", lost)
	}
	ending.Message += "; " + lost
	return ending
}

// endingFailure says what is wrong with the way in which a program ended.
func endingFailure(result sandbox.Result) *failure.Failure {
	switch {
	case result.Status == sandbox.TimedOut:
		return failure.New(failure.ExecutionTimeout, "Ask for more with timeoutMs, or for less work.", "killed after %d ms", result.Duration.Milliseconds())
	case result.Status == sandbox.OutputLimit:
		return failure.New(failure.OutputLimit, "Let it write to a file in the workspace, or print less.", "killed because it printed too much")
	case result.Status == sandbox.Canceled:
		return failure.New(failure.ExecutionCanceled, "", "killed because the call was canceled")
	case result.Status == sandbox.OutOfMemory:
		return failure.New(failure.ExecutionFailed, "Let it work on less at a time.", "killed because it used more memory than it may")
	case result.Status == sandbox.QuotaExceeded:
		return failure.New(failure.WorkspaceFull, "Remove what is not needed, with another run in the same workspace.",
			"killed because the workspace holds more than it may, or directories that cannot be looked into")
	case result.Status == sandbox.Lost && result.Reason != "":
		return failure.New(failure.ContainerError, "Part of its work may be done, and nothing says how much: run it again only if it may be done twice. If that ends so again, tell the user.", "")
	case result.Status == sandbox.Lost:
		return failure.New(failure.ContainerError, "Part of its work may be done, and nothing says how much: look at the workspace and at what it was to reach, and run it again only if it may be done twice. If that fails with "+string(failure.SandboxUnavailable)+", tell the user that the container engine is gone.",
			"the container was removed, or its engine stopped, before the program's end")
	case result.Status == sandbox.Signaled:
		return failure.New(failure.ExecutionFailed, "Read stderr.", "ended by signal %s", result.Signal)
	case result.ExitCode != 0:
		return failure.New(failure.ExecutionFailed, "Read stderr and stdout, correct the input, and try again.", "exit code %d", result.ExitCode)
	}
	return nil
}

// streamText joins what was kept of a stream; what is not UTF-8 is replaced.
func streamText(ws workspaces.Workspace, out sandbox.Output) (text, file string) {
	if out.Spill != "" {
		file = workspace.SavedURI(ws.Handle, out.Spill)
	}
	kept := int64(len(out.Data))
	if out.Head >= len(out.Data) && out.Total <= kept {
		return strings.ToValidUTF8(string(out.Data), "\uFFFD"), file
	}
	gap := fmt.Sprintf("\n[… %d bytes left out", out.Total-kept)
	if file != "" {
		gap += "; the whole is " + file
	}
	text = string(out.Data[:out.Head]) + gap + " …]\n" + string(out.Data[out.Head:])
	return strings.ToValidUTF8(text, "\uFFFD"), file
}

// shownDigest is how much of a digest the text shows, for people to compare.
const shownDigest = len("sha256:") + 12

// text is the same as the structure, for hosts that show only text.
func (o output) text() string {
	var text strings.Builder
	switch {
	case o.Error != nil:
		fmt.Fprintf(&text, "%s\n", o.Error.Error())
	default:
		fmt.Fprintf(&text, "exit code %d\n", *o.ExitCode)
	}
	for _, stream := range []struct{ name, data string }{{"stdout", o.Stdout}, {"stderr", o.Stderr}} {
		if stream.data != "" {
			fmt.Fprintf(&text, "--- %s ---\n%s", stream.name, stream.data)
			if !strings.HasSuffix(stream.data, "\n") {
				text.WriteByte('\n')
			}
		}
	}
	for _, file := range o.Artifacts {
		fmt.Fprintf(&text, "artifact: %s (%s) %s\n", display.Path(file.Filename), display.Size(file.Size), file.ID)
	}
	if o.ArtifactsOmitted > 0 {
		fmt.Fprintf(&text, "artifacts not listed: %d\n", o.ArtifactsOmitted)
	}
	if n := len(o.LeftBehind) + o.LeftOmitted; n > 0 {
		noun := "process"
		if n > 1 {
			noun = "processes"
		}
		fmt.Fprintf(&text, "ended with the program, %d %s that still ran: %s\n", n, noun, o.leftBehind())
	}
	o.sharesReport.WriteText(&text)
	o.accessReport.WriteText(&text)
	o.libraryReport.WriteText(&text)
	fmt.Fprintf(&text, "workspace %s, %d ms, %d ms of processor time, ", o.Workspace, o.DurationMs, o.CPUMs)
	if o.PeakMemory > 0 {
		fmt.Fprintf(&text, "%s of memory, ", display.Size(o.PeakMemory))
	}
	if o.SkillDigest != "" {
		fmt.Fprintf(&text, "skill %s, ", truncate.After(o.SkillDigest, shownDigest))
	}
	fmt.Fprintf(&text, "sandbox %s (tier %s): %s\n", o.Sandbox.Backend, o.Sandbox.Tier, o.Sandbox.Notice)
	return text.String()
}

// leftBehind names processes, each name once.
func (o output) leftBehind() string {
	list := strings.Join(slices.Compact(slices.Clone(o.LeftBehind)), ", ")
	if o.LeftOmitted > 0 {
		list += " and others"
	}
	return list
}
