// Package config reads the configuration: what the user's own file, the
// environment and the command line say, and how far a project narrows it.
//
// One table, keys, names every key with what it may hold. The reader, the JSON
// Schema, the table in the documentation and what is printed all come from it.
//
// # Who may say what
//
// Flags win over variables of the environment, these over the user's file, and
// that over the defaults. All four are the operator's. A project's
// [ProjectFile] comes with the project and is not trusted: whatever the operator
// said, it can make that stricter, never wider. Where it would, or cannot be
// used, the strictest is in force (see [Effective.Narrow]).
//
// # Strictness
//
// What is not understood is refused with its line and column: unknown keys, keys
// that stand there twice, values of another type, anchors, aliases and tags.
// Nothing is guessed.
package config

import (
	"path"
	"slices"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/internal/secrets"
)

// ProjectFile is the name of the file in a project's directory that narrows the
// configuration. No program may change it.
const ProjectFile = ".skills-mcp.yaml"

// Off is the value that turns a part off.
const Off = "off"

// Auto is the value that leaves a choice to the program.
const Auto = "auto"

// Config is the configuration. [Default] returns one that can be used.
type Config struct {
	// Roots are where skills are looked for, in order.
	Roots []Root
	// Disabled are the names of skills that are hidden everywhere; an asterisk
	// stands for any characters.
	Disabled []string
	// Pin are the names of skills that the instructions list first.
	Pin []string
	// Strict leaves out every skill that the reference validator rejects.
	Strict bool
	// Validation is "lenient", "spec" or "strict": which faults leave a skill out.
	Validation string
	// MaxSkills is how many skills there may be.
	MaxSkills int
	// Poll is the time between two looks for changes; zero where the kernel
	// tells of them.
	Poll time.Duration
	// CompatIndex serves skill://index.json too.
	CompatIndex bool
	// Toolsets are the names of the toolsets that are there besides the tools
	// that always are.
	Toolsets []string
	// ExposePackTools has the tools of skills be tools of the server too.
	ExposePackTools bool
	// Session names the session of the host, in which activated skills are
	// remembered, or is auto or off.
	Session string
	// AllowedTools is the mode in which skills' allowed-tools are taken:
	// "enforce" or "log".
	AllowedTools string

	Sandbox    Sandbox
	Limits     Limits
	Workspaces Workspaces
	Project    Project
	Approval   Approval
	Audit      Audit
	Log        Log
	Hosted     Hosted
	Metrics    Metrics

	// Skills are what holds for one skill, by its name. [Config.Skill] returns
	// it together with what holds for all.
	Skills map[string]Skill
}

// Root is a directory or an archive of skills.
type Root struct {
	// Path is the directory or archive: absolute, below the home directory
	// ("~/skills") or relative to the project's directory.
	Path string
	// Prefix is put before the skills' paths in URIs.
	Prefix string
	// Pack marks a root of capability packs, and Entry is the name of their
	// entry document; empty means the fallback order.
	Pack  bool
	Entry string
	// Optional keeps its absence from being a problem.
	Optional bool
	// Visible are the names of its skills that there are, asterisks standing
	// for any characters. All others are hidden as if they were disabled.
	Visible []string
}

// Sandbox is what runs programs.
type Sandbox struct {
	// Backend is "auto", "local", "docker", "hosted", "off" or "unsafe-host".
	Backend string
	// Show are files and directories of this machine that programs in the local
	// sandbox may read besides the system's.
	Show []string
	// MountAll shows commands of no skill all skills that keep nothing from them.
	MountAll bool
	// MaxRuns is how many programs run at once; zero means twice the number of
	// processors, at least 4.
	MaxRuns int
	Docker  Docker
}

// Docker configures containers.
type Docker struct {
	// Image is the image, and Runtime the engine's runtime; where it is empty,
	// the engine's own.
	Image, Runtime string
}

// Hosted is the Claude API, which can keep skills and run them.
type Hosted struct {
	// BaseURL is where it is; where it is empty, where ANTHROPIC_BASE_URL says.
	BaseURL string
	// Key is where the API key is.
	Key secrets.Source
	// Model is asked to start programs, where Sandbox.Backend is "hosted".
	Model string
}

// Limits bound one run. In a [Skill] of [Config.Skills], zero means what holds
// for all skills; what [Config.Skill] returns has no zero.
type Limits struct {
	// Timeout is how long a run may take that asks for no time of its own, and
	// MaxTimeout how long any may take, which bounds Timeout too.
	Timeout, MaxTimeout time.Duration
	// Output is how much of each stream is kept in a result, and Spill how much
	// may be written before the run is killed, in bytes.
	Output, Spill int64
	// Memory is how much all processes may use together, in bytes.
	Memory int64
	// MilliCPUs is how much processor time they may have together, in thousandths
	// of a processor.
	MilliCPUs int
	// Processes is how many processes and threads there may be.
	Processes int
	// FileSize is the size of the largest file that may be written, in bytes.
	FileSize int64
	// OpenFiles is how many files a process may have open.
	OpenFiles int
	// WorkspaceSize and WorkspaceFiles are what a workspace may hold, in bytes
	// and in files and directories.
	WorkspaceSize  int64
	WorkspaceFiles int
	// Instructions is how much of a skill's instructions is shown at once, in bytes.
	Instructions int64
}

// Workspaces are the directories that programs write to.
type Workspaces struct {
	// Idle is how long one lives after its last use.
	Idle time.Duration
	// Max is how many there may be at once.
	Max int
}

// Project is what programs see of the user's own files.
type Project struct {
	// Dir is the project's directory, absolute or below the home directory
	// ("~/work"), or [Auto] or [Off].
	Dir string
	// Access is "write", "review", "read" or "off".
	Access string
	// Shares are what else of the user's files programs see.
	Shares []Share
	// Hidden and Protected are patterns of files that no program sees, and that
	// none changes, besides those that always are. Shown are patterns of files
	// that they see all the same, unless they are Hidden.
	Hidden, Protected, Shown []string
	// Write are patterns of files that are changed at the end of a run without
	// being looked at first.
	Write []string
}

// Share is a directory or file of the user that programs see.
type Share struct {
	// Path is absolute or below the home directory ("~/data").
	Path string
	// Access is "write", "review" or "read".
	Access string
}

// Approval says what the user is asked for. In a [Skill] of [Config.Skills], an
// empty field means what holds for all skills, and others are no less strict.
type Approval struct {
	// Mode is how changes of the user's files are agreed to: "host", "ask" or
	// "deny".
	Mode string
	// Runs and Reads say whether runs, and reads of skills, need consent:
	// "free", "ask" or "deny".
	Runs, Reads string
	// Network says whether the user is asked about hosts that are not granted:
	// "ask" or "deny".
	Network string
}

// Audit is the log of what was done.
type Audit struct {
	// Dir is its directory, absolute or below the home directory, or [Auto] for
	// one in the user's state directory, or [Off].
	Dir string
	// MaxSize is the size in bytes at which a new file is begun, and MaxFiles
	// how many there are at most.
	MaxSize  int64
	MaxFiles int
	// Failure is what becomes of a call that cannot be logged: "fail" or
	// "continue".
	Failure string
}

// Metrics are what Prometheus reads.
type Metrics struct {
	// Address is where they are served besides by "skills-mcp serve", a loopback
	// address with its port, or [Off].
	Address string
	// Skills has them tell skills apart by their names.
	Skills bool
}

// Log is the program's own log.
type Log struct {
	// Level is "debug", "info", "warn" or "error", and Format "auto", "text" or
	// "json".
	Level, Format string
	// Network logs what programs ask the network for, whatever the level.
	Network bool
}

// Skill is what holds for one skill.
type Skill struct {
	Limits   Limits
	Approval Approval
	Grants
}

// Default returns the configuration that is in force where nothing is said.
func Default() Config {
	return Config{
		Roots:        defaultRoots("./.skills", "./.agents/skills", "./.claude/skills", "~/.agents/skills", "~/.claude/skills", "~/.skills-mcp/skills"),
		AllowedTools: "enforce",
		Session:      Auto,
		Validation:   "lenient",
		MaxSkills:    20_000,
		Sandbox:      Sandbox{Backend: Auto, Docker: Docker{Image: "skills-mcp/sandbox:latest"}},
		Limits: Limits{
			Timeout: time.Minute, MaxTimeout: 10 * time.Minute, Output: 32 << 10, Spill: 16 << 20, Memory: 2 << 30, MilliCPUs: 4000, Processes: 256,
			FileSize: 1 << 30, OpenFiles: 4096, WorkspaceSize: 2 << 30, WorkspaceFiles: 50_000,
			Instructions: 200_000,
		},
		Workspaces: Workspaces{Idle: time.Hour, Max: 256},
		Project:    Project{Dir: Auto, Access: "review"},
		Approval:   Approval{Mode: "host", Runs: "free", Reads: "free", Network: "deny"},
		Audit:      Audit{Dir: Auto, MaxSize: 10 << 20, MaxFiles: 5, Failure: "fail"},
		Log:        Log{Level: "info", Format: Auto},
		Hosted:     Hosted{Key: secrets.Environment("ANTHROPIC_API_KEY")},
		Metrics:    Metrics{Address: Off},
	}
}

func defaultRoots(paths ...string) []Root {
	roots := make([]Root, len(paths))
	for i, path := range paths {
		roots[i] = Root{Path: path, Optional: true, Visible: []string{"*"}}
	}
	return roots
}

// Skill returns what holds for a skill: of its own and of what holds for all
// skills, that which is stricter. Nothing in it is zero but what is not granted.
func (c *Config) Skill(name string) Skill {
	own := c.Skills[name]
	return Skill{
		Grants: own.Grants,
		Limits: own.Limits.within(c.Limits),
		Approval: Approval{
			Mode:    stricter(approvals, own.Approval.Mode, c.Approval.Mode),
			Runs:    stricter(consents, own.Approval.Runs, c.Approval.Runs),
			Reads:   stricter(consents, own.Approval.Reads, c.Approval.Reads),
			Network: stricter(asks, own.Approval.Network, c.Approval.Network),
		},
	}
}

// stricter returns that of two words which comes later among all.
func stricter(words []string, a, b string) string {
	if slices.Index(words, a) > slices.Index(words, b) {
		return a
	}
	return b
}

// within returns limits, those of bounds where they are zero or more.
func (l Limits) within(bounds Limits) Limits {
	bound(&l.MaxTimeout, bounds.MaxTimeout)
	bound(&l.Timeout, min(bounds.Timeout, l.MaxTimeout))
	bound(&l.Output, bounds.Output)
	bound(&l.Spill, bounds.Spill)
	bound(&l.Memory, bounds.Memory)
	bound(&l.MilliCPUs, bounds.MilliCPUs)
	bound(&l.Processes, bounds.Processes)
	bound(&l.FileSize, bounds.FileSize)
	bound(&l.OpenFiles, bounds.OpenFiles)
	bound(&l.WorkspaceSize, bounds.WorkspaceSize)
	bound(&l.WorkspaceFiles, bounds.WorkspaceFiles)
	bound(&l.Instructions, bounds.Instructions)
	return l
}

func bound[T int | int64 | time.Duration](limit *T, most T) {
	if *limit <= 0 || *limit > most {
		*limit = most
	}
}

// Hides reports whether a skill of the root of that index is hidden: it is
// disabled, or not visible in its root. Names are the same under NFKC.
func (c *Config) Hides(root int, name string) bool {
	return c.Disables(name) || root < len(c.Roots) && !matches(c.Roots[root].Visible, name)
}

// Disables reports whether a skill is hidden in all roots.
func (c *Config) Disables(name string) bool { return matches(c.Disabled, name) }

func matches(patterns []string, name string) bool {
	name = norm.NFKC.String(name)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(norm.NFKC.String(pattern), name)
		return matched && err == nil
	})
}
