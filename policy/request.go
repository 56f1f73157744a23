package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Op is what a skill wants to do.
type Op string

// The operations that a skill can ask for.
const (
	OpRead   Op = "read"   // read or list a file of the skill, the workspace or the user: Request.Path
	OpWrite  Op = "write"  // write a file of the workspace or the user: Request.Path
	OpEdit   Op = "edit"   // replace text in such a file: Request.Path
	OpScript Op = "script" // run a script of the skill, no shell: Request.Argv
	OpShell  Op = "shell"  // run a shell program: Request.Command
	OpTool   Op = "tool"   // run a tools.json tool: Request.Tool, Request.Argv
	// OpProgram is to run a program on PATH, without a shell: Request.Argv.
	OpProgram Op = "program"
)

// Bounds of a request. A longer command belongs into a script; a longer path
// names no file on any system this runs on.
const (
	maxCommandBytes = 1 << 20
	maxParsedBytes  = 16 << 10 // of commands that are matched with patterns
	maxPathBytes    = 4 << 10
)

// Request is one thing to decide.
type Request struct {
	Op Op
	// Path is clean, relative and slash-separated, at most 4 KiB; "." is
	// the skill itself, or the directory that the path is in.
	Path string
	// Dir is the absolute path of the user's directory that Path is in, and
	// InProject says that this is the project; empty for files of the skill and of
	// the workspace.
	Dir       string
	InProject bool
	// Argv is the script's path relative to the skill, the program's name, or the
	// tool's program, and the arguments. Without a shell in between, arguments are
	// data: any bytes but NUL.
	Argv []string
	// Command is the shell program, at most 1 MiB, or 16 KiB where it is matched with
	// patterns.
	Command string
	// InSkill says that it starts in the skill's directory, so that relative
	// paths are the skill's; else they are the workspace's.
	InSkill bool
	// SkillDir is the skill's directory as programs see it; anything but an
	// absolute path says that it is not known beforehand. $SKILL_DIR always
	// holds it.
	SkillDir string
	// Tool is the name of a tools.json tool.
	Tool string
}

// fault checks the request in itself, and denies what cannot be run whatever the
// grants are. It returns nil where there is something to decide.
func (r Request) fault() *Decision {
	switch r.Op {
	case OpRead:
		return pathFault(r.Path)
	case OpWrite, OpEdit:
		if r.Path == "." {
			return malformed("The path names a directory.", "Give the path of a file.")
		}
		if r.Dir == "" && inPrivateDir(r.Path) {
			return malformed(privateDir+" belongs to the sandbox.", "Write elsewhere in the workspace.")
		}
		return pathFault(r.Path)
	case OpScript:
		if len(r.Argv) == 0 || r.Argv[0] == "." || !cleanRelative(trimDotSlash(r.Argv[0])) {
			return malformed("A script is named by a relative path inside the skill, without `..`.",
				"Give a path such as scripts/run.py.")
		}
		return argvFault(r.Argv)
	case OpTool:
		if r.Tool == "" || len(r.Argv) == 0 || r.Argv[0] == "" {
			return malformed("The tool has no name or no program.", "Name a tool of the skill's tools.json.")
		}
		return argvFault(append([]string{r.Tool}, r.Argv...))
	case OpProgram:
		if len(r.Argv) == 0 || r.Argv[0] == "" || strings.ContainsAny(r.Argv[0], `/\`) {
			return malformed("A program is named without a path.", "Name a program that is installed, such as jq, or a script of the skill by `script`.")
		}
		return argvFault(r.Argv)
	case OpShell:
		return commandFault(r.Command)
	}
	return malformed(fmt.Sprintf("The operation %s is not known.", quote(string(r.Op))),
		"The operations are read, write, edit, script, program, shell and tool.")
}

// shownPath is the path as people know it.
func (r Request) shownPath() string {
	if r.Dir == "" || r.InProject {
		return r.Path
	}
	return path.Join(r.Dir, r.Path)
}

func malformed(reason, hint string) *Decision {
	return new(deny(ruleMalformed, reason, hint))
}

func pathFault(name string) *Decision {
	if len(name) > maxPathBytes {
		return new(deny(ruleTooLong, fmt.Sprintf("The path has %d bytes; the limit is %d.", len(name), maxPathBytes), "Give a shorter path."))
	}
	if !cleanRelative(name) {
		return malformed(fmt.Sprintf("The path %s is not a clean relative path.", quote(name)),
			"Give a relative path with forward slashes and without `..`.")
	}
	return nil
}

func argvFault(argv []string) *Decision {
	for _, argument := range argv {
		if strings.ContainsRune(argument, 0) {
			return malformed("An argument has a NUL byte in it.", "Pass binary data on stdin or in a file.")
		}
	}
	return nil
}

func commandFault(command string) *Decision {
	switch {
	case len(command) > maxCommandBytes:
		return new(deny(ruleTooLong, fmt.Sprintf("The command has %d bytes; the limit is %d.", len(command), maxCommandBytes),
			"Put it into a script of the skill, or pass data on stdin."))
	case strings.ContainsRune(command, 0):
		return malformed("The command has a NUL byte in it.", "Remove the NUL byte.")
	case strings.TrimSpace(command) == "":
		return malformed("The command is empty.", "Give a command to run.")
	}
	return nil
}

// privateDir is the directory at the top of a workspace that belongs to the
// sandbox, whatever a skill may write.
const privateDir = ".skills-mcp"

// inPrivateDir reports whether a clean path of the workspace is or lies in the
// private directory, on file systems too that fold case.
func inPrivateDir(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return strings.EqualFold(top, privateDir)
}

// namesPrivateDir reports whether any segment of a path is the private
// directory.
func namesPrivateDir(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), inPrivateDir)
}

// cleanRelative reports whether name is relative, in its shortest form, and
// stays below where it starts. Unlike [io/fs.ValidPath] it takes names that
// are not UTF-8: file systems do.
func cleanRelative(name string) bool {
	return name != "" && path.Clean(name) == name && !path.IsAbs(name) &&
		name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsRune(name, 0)
}

// trimDotSlash takes a leading "./" off where a clean relative path follows.
func trimDotSlash(name string) string {
	if rest, ok := strings.CutPrefix(name, "./"); ok && rest != "." && cleanRelative(rest) {
		return rest
	}
	return name
}
