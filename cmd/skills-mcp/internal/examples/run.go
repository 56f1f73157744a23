package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server"
)

// Runner runs examples.
type Runner struct {
	// Call calls a tool as a client does.
	Call func(ctx context.Context, tool string, arguments json.RawMessage) (server.Called, error)
	// Workspaces are those of the server.
	Workspaces *workspaces.Store
	// Begun, if set, is called before each example.
	Begun func(skill *catalog.Skill, name string)
}

// RunAll runs the examples of skills, and writes what comes of each.
func (r Runner) RunAll(ctx context.Context, skills []*catalog.Skill, out io.Writer) (*Report, error) {
	report := &Report{Examples: []Result{}, Faults: []Fault{}}
	var failed error
	for _, skill := range skills {
		faults := r.Run(ctx, skill, func(result Result) {
			report.Add(result)
			failed = errors.Join(failed, result.Write(out))
		})
		report.Faults = append(report.Faults, faults...)
		failed = errors.Join(failed, WriteFaults(out, faults))
	}
	return report, errors.Join(failed, ctx.Err())
}

// answer is what exec says.
type answer struct {
	ExitCode   *int   `json:"exitCode"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	StdoutFile string `json:"stdoutFile"`
	StderrFile string `json:"stderrFile"`
	DurationMs int64  `json:"durationMs"`
	Artifacts  []struct {
		Path string `json:"filename"`
	} `json:"artifacts"`
	ArtifactsOmitted int `json:"artifactsOmitted"`
	Error            *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	} `json:"error"`

	text string
}

// Run runs the examples of a skill, and calls done with the result of each. What is
// wrong with its files is in faults.
func (r Runner) Run(ctx context.Context, skill *catalog.Skill, done func(Result)) (faults []Fault) {
	all, faults := read(skill)
	for _, each := range all {
		if ctx.Err() != nil {
			return faults
		}
		if r.Begun != nil {
			r.Begun(skill, each.Name)
		}
		result := r.run(ctx, skill, each)
		if ctx.Err() == nil {
			done(result)
		}
	}
	return faults
}

func (r Runner) run(ctx context.Context, skill *catalog.Skill, e example) Result {
	line, _ := e.at.document.Position(e.at.path, false)
	result := Result{Skill: skill.Name, File: e.at.file, Line: line, Name: e.Name, Faults: []Fault{}}
	workspace, came, err := r.call(ctx, skill, e)
	if workspace.Handle != "" {
		defer r.Workspaces.Remove(workspace.Handle)
	}
	if err != nil {
		result.Faults = append(result.Faults, e.at.fault(false, "%v", err))
		return result
	}
	result.DurationMs = came.DurationMs
	result.Faults = append(result.Faults, compare(e, came)...)
	if len(e.Expect.Files) > 0 {
		result.Faults = append(result.Faults, compareFiles(e, workspace)...)
	}
	result.Passed = len(result.Faults) == 0
	if !result.Passed {
		result.Stdout, result.Stderr = came.Stdout, came.Stderr
	}
	return result
}

// call makes a workspace with the example's files, and calls exec with it.
func (r Runner) call(ctx context.Context, skill *catalog.Skill, e example) (ws workspaces.Workspace, _ answer, err error) {
	arguments := map[string]any{"name": skill.Name}
	for key, value := range e.Exec {
		arguments[key] = value
	}
	if r.Workspaces != nil {
		if ws, err = r.Workspaces.Create("examples"); err != nil {
			return ws, answer{}, err
		}
		defer ws.Acquire()()
		if err := furnish(ws, e.Files); err != nil {
			return ws, answer{}, err
		}
		arguments["workspace"] = ws.Handle
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return ws, answer{}, err
	}
	called, err := r.Call(ctx, "exec", encoded)
	if err != nil {
		return ws, answer{}, err
	}
	came := answer{text: called.Text}
	if called.Structured != nil {
		err = json.Unmarshal(called.Structured, &came)
	}
	return ws, came, err
}

// furnish writes the files that are there before.
func furnish(ws workspaces.Workspace, files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	dir, err := contained.Open(ws.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return err
	}
	defer dir.Close()
	for name, text := range files {
		if _, err := dir.Write(name, []byte(text)); err != nil {
			return fmt.Errorf("the file cannot be written: %w", err)
		}
	}
	return nil
}

// compareFiles looks at what files of the workspace hold.
func compareFiles(e example, ws workspaces.Workspace) (faults []Fault) {
	at := e.at.below("expect", "files")
	if ws.Dir == "" {
		return []Fault{at.fault(true, "there is no workspace, since nothing can be run")}
	}
	dir, err := contained.Open(ws.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return []Fault{at.fault(true, "%v", err)}
	}
	defer dir.Close()
	var names []string
	for name := range e.Expect.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		content, err := dir.ReadAll(name, 0)
		if err != nil {
			faults = append(faults, at.below(name).fault(true, "%v", err))
			continue
		}
		expected := e.Expect.Files[name]
		faults = append(faults, expected.compare(at.below(name), name, string(content.Data), false)...)
	}
	return faults
}
