package tools

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// filePath is where a path of the toolset workspace leads: into the workspace, a
// skill, or a directory of the user.
type filePath struct {
	// file is clean and relative to the workspace, or to the skill.
	file    string
	inSkill bool
	// users is set for a file of the user; then file is empty.
	users *shares.Place
	// handle is the workspace's, or empty for the session's own.
	handle string
}

// shown is the path as answers have it.
func (p filePath) shown() string {
	if p.users != nil {
		return p.users.Shown()
	}
	return p.file
}

// request is what to ask the policy about the path.
func (p filePath) request(op policy.Op) policy.Request {
	if p.users != nil {
		return requestFor(op, *p.users)
	}
	return policy.Request{Op: op, Path: p.file}
}

func requestFor(op policy.Op, at shares.Place) policy.Request {
	return policy.Request{Op: op, Path: at.Inside, Dir: at.Path, InProject: at.Project}
}

// path reads a path as models write it: relative to the user's project, or where
// there is none to the workspace; as programs see it; or as a workspace:// URI.
func (f *workspaceFiles) path(ctx context.Context, path, handle string) (filePath, error) {
	if strings.HasPrefix(path, workspace.Scheme) {
		return uriPath(path, handle)
	}
	if read, ok, err := f.usersPath(ctx, path); ok || err != nil {
		read.handle = handle
		return read, err
	}
	seen := f.runner.Sandbox.Info()
	read := filePath{file: path, handle: handle}
	if rest, ok := below(path, "/workspace", "$WORKSPACE", "${WORKSPACE}", seen.Workspace); ok {
		read.file = rest
	} else if rest, ok := below(path, "/skill", "$SKILL_DIR", "${SKILL_DIR}", seen.SkillDir); ok {
		read.file, read.inSkill = rest, true
	} else if unexpanded().MatchString(path) {
		return filePath{}, f.invalid(ctx, display.Path(truncate.After(path, 120))+" is no path that files have here")
	} else if at, ok := f.shares.InProject(ctx, path); ok && !strings.HasPrefix(path, "/") {
		return usersFile(at, handle)
	}
	var err error
	read.file, err = contained.Clean(read.file)
	if refused, ok := errors.AsType[*contained.Error](err); ok && refused.Rule == contained.Absolute {
		return filePath{}, f.invalid(ctx, refused.Message)
	}
	return read, err
}

// inLibrary returns which file of which skill a path names where programs see all
// skills.
func (f *workspaceFiles) inLibrary(path string) (name, file string, ok bool) {
	rest, ok := below(path, sandbox.LibraryDir)
	if !ok || rest == "." || f.runner.Library == nil {
		return "", "", false
	}
	name, file, _ = strings.Cut(rest, "/")
	return name, file, true
}

// usersPath reads a path that says itself that it is the user's; else ok is false.
func (f *workspaceFiles) usersPath(ctx context.Context, path string) (read filePath, ok bool, err error) {
	if rest, ok := below(path, "$PROJECT", "${PROJECT}"); ok {
		at, ok := f.shares.InProject(ctx, rest)
		if !ok {
			return filePath{}, false, failure.New(failure.InvalidPath, hintWorkspacePath, "there is no project")
		}
		read, err = usersFile(at, "")
		return read, true, err
	}
	if !strings.HasPrefix(path, "/") || slices.Contains(strings.Split(path, "/"), "..") {
		return filePath{}, false, nil
	}
	at, ok := f.shares.At(ctx, path)
	if !ok {
		return filePath{}, false, nil
	}
	read, err = usersFile(at, "")
	return read, true, err
}

func usersFile(at shares.Place, handle string) (filePath, error) {
	var err error
	if at.Inside, err = contained.Clean(at.Inside); err != nil {
		return filePath{}, err
	}
	return filePath{users: &at, handle: handle}, nil
}

// invalid is the failure of a path that leads nowhere.
func (f *workspaceFiles) invalid(ctx context.Context, message string) error {
	hint := hintWorkspacePath
	if f.shares.Project(ctx) != nil {
		hint = "Give a path relative to the project, such as docs/plan.md, or one of the workspace, such as /workspace/plan.md."
	}
	return failure.New(failure.InvalidPath, hint, "%s", message)
}

// uriPath reads a workspace:// URI, whose file need not be UTF-8.
func uriPath(uri, handle string) (filePath, error) {
	named, file, err := workspace.ParseURI(uri)
	if err != nil {
		return filePath{}, err
	}
	if handle != "" && handle != named {
		return filePath{}, failure.New(failure.InvalidArguments, "Leave `workspace` out.", "`workspace` and the URI in `path` name different workspaces")
	}
	file, err = contained.CleanBytes(file)
	return filePath{file: file, handle: named}, err
}

const hintWorkspacePath = "Give a path relative to the workspace, such as notes/plan.md."

// unexpanded are paths that mean something else to whoever wrote them than a
// file of that name: URIs, a home directory, a variable.
var unexpanded = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]*://|~(/|$)|\$(\w+|\{\w+\})(/|$))`)

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
func (p filePath) writable() error {
	if p.users != nil {
		return nil
	}
	if p.inSkill {
		return failure.New(failure.PermissionDenied, "Write to the workspace instead; a program can copy the file there.", "skills are read-only")
	}
	if top, _, _ := strings.Cut(p.file, "/"); strings.EqualFold(top, sandbox.PrivateDir) {
		return failure.New(failure.PermissionDenied, "Write elsewhere in the workspace.", "%s belongs to the sandbox", sandbox.PrivateDir)
	}
	return nil
}
