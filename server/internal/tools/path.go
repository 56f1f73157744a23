package tools

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// workspacePath is where a path of the toolset workspace leads.
type workspacePath struct {
	// file is clean and relative to the workspace, or to the skill.
	file    string
	inSkill bool
	// handle is the workspace's, or empty for the session's own.
	handle string
}

// path reads a path as models write it: relative to the workspace, as
// programs see it, or as a workspace:// URI.
func (f *workspaceFiles) path(path, handle string) (workspacePath, error) {
	if strings.HasPrefix(path, workspace.Scheme) {
		return uriPath(path, handle)
	}
	var seen sandbox.Info
	if f.runner.Sandbox != nil {
		seen = f.runner.Sandbox.Info()
	}
	read := workspacePath{file: path, handle: handle}
	if rest, ok := below(path, "/workspace", "$WORKSPACE", "${WORKSPACE}", seen.Workspace); ok {
		read.file = rest
	} else if rest, ok := below(path, "/skill", "$SKILL_DIR", "${SKILL_DIR}", seen.SkillDir); ok {
		read.file, read.inSkill = rest, true
	} else if unexpanded().MatchString(path) {
		return workspacePath{}, failure.New(failure.InvalidPath, hintWorkspacePath, "%s is no path in the workspace", display.Path(truncate.After(path, 120)))
	}
	var err error
	read.file, err = contained.Clean(read.file)
	var refused *contained.Error
	if errors.As(err, &refused) && refused.Rule == contained.Absolute {
		return workspacePath{}, failure.New(failure.InvalidPath, hintWorkspacePath, "%s", refused.Message)
	}
	return read, err
}

// uriPath reads a workspace:// URI, whose file need not be UTF-8.
func uriPath(uri, handle string) (workspacePath, error) {
	named, file, err := workspace.ParseURI(uri)
	if err != nil {
		return workspacePath{}, err
	}
	if handle != "" && handle != named {
		return workspacePath{}, failure.New(failure.InvalidArguments, "Leave `workspace` out.", "`workspace` and the URI in `path` name different workspaces")
	}
	file, err = contained.CleanBytes(file)
	return workspacePath{file: file, handle: named}, err
}

const hintWorkspacePath = "Give a path relative to the workspace, such as notes/plan.md."

// unexpanded are paths that mean something else to whoever wrote them than a
// file of that name: URIs, a home directory, a variable.
var unexpanded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://|~(/|$)|\$(\w+|\{\w+\})(/|$))`)
})

// below takes the first of the directories off a path that lies in it.
func below(path string, dirs ...string) (rest string, ok bool) {
	for _, dir := range dirs {
		rest, ok := strings.CutPrefix(path, dir)
		if rest = strings.TrimLeft(rest, "/"); !ok || dir == "" {
			continue
		}
		if rest == "" {
			return ".", true
		}
		if path[len(dir)] == '/' {
			return rest, true
		}
	}
	return "", false
}

// writable refuses to write what no tool writes.
func (p workspacePath) writable() error {
	if p.inSkill {
		return failure.New(failure.PermissionDenied, "Write to the workspace instead; a program can copy the file there.", "skills are read-only")
	}
	if top, _, _ := strings.Cut(p.file, "/"); strings.EqualFold(top, sandbox.PrivateDir) {
		return failure.New(failure.PermissionDenied, "Write elsewhere in the workspace.", "%s belongs to the sandbox", sandbox.PrivateDir)
	}
	return nil
}
