// Package sandbox is the port to what runs a skill's programs: what to run
// and under which limits goes in, what happened comes out. It knows nothing
// of MCP and nothing of any engine; each backend is a package below it.
package sandbox

import (
	"context"
	"io"
	"time"
)

// Backend runs programs of skills.
//
// Run starts one program, waits until its whole process tree is dead and
// returns the result. A program's own failure, a timeout, a signal or an
// output limit is a Result, never an error: an error means that the program
// was not started, and wraps [ErrUnavailable] or a [SetupError]. When ctx
// ends, the tree is killed and the Result's Status is [Canceled]. Run may be
// called from many goroutines.
type Backend interface {
	Run(ctx context.Context, spec Spec) (Result, error)
	// Info describes the backend and the tier that is in force. It may take as long
	// as finding that out does, once.
	Info() Info
	// Close kills what still runs and releases everything. No Run may start
	// after it.
	Close() error
}

// Info describes a backend.
type Info struct {
	// Backend is its stable name, such as "unsafe-host".
	Backend string
	// Tier is what is enforced, such as "none".
	Tier string
	// Notice is one sentence for people and models that says what is and is
	// not isolated.
	Notice string
	// Costly reports that each run costs money, so that nobody runs what was not asked
	// for.
	Costly bool
	// Network reports that programs have the network of the machine, and Egress
	// that [Spec.Egress] is served; where it is not, programs that have no
	// network of the machine have none.
	Network, Egress bool
	// SkillDir and Workspace are the two directories as programs see them:
	// a path, or a variable such as "$SKILL_DIR" where it differs by run.
	SkillDir, Workspace string
	// Library is [LibraryDir] where [Spec.Library] can be shown, or empty.
	Library string
	// Image says which programs there are where they are none of this machine: the
	// identity of a container's image, which is another when that is built again.
	Image string
	// Shown are the files and directories of this machine that programs see
	// besides the system's, one a line: for the operator, not for clients.
	Shown string
	// Unavailable says why nothing can be run, and how to get a sandbox, for clients
	// too. It is empty where programs can be run; where they cannot, all but Backend
	// is empty.
	Unavailable string
}

// Runs reports whether programs can be run.
func (i Info) Runs() bool { return i.Unavailable == "" }

// Spec is one run.
type Spec struct {
	// Exactly one of Script, Shell and Argv is set.

	// Script is the clean, slash-separated path of a file in SkillDir that
	// is run with Args, without a shell; the interpreter comes from its
	// shebang, else from its extension.
	Script string
	// Shell is a program for bash (--noprofile --norc), or for sh where
	// there is no bash.
	Shell string
	// Argv is a program, by name on the sandbox's PATH, and its arguments.
	Argv []string

	// Args are the arguments of Script.
	Args []string
	// Stdin is what the program reads; nil means an empty input.
	Stdin []byte
	// Env is added to the clean environment. SKILL_DIR, WORKSPACE, PROJECT, HOME,
	// TMPDIR and PATH are the backend's and cannot be set here.
	Env map[string]string
	// InSkill starts the program in SkillDir instead of Workspace, and InProject
	// in the first of Shares, or in the Workspace where that is not shown.
	InSkill, InProject bool
	// SkillDir is the absolute host directory of the skill, read-only to
	// the program where the tier can enforce it.
	SkillDir string
	// Workspace is the absolute host directory that the program may write.
	Workspace string
	// Private is the absolute host directory, no part of Workspace, of what is
	// not for all programs there: HOME and TMPDIR, a pair for each Owner, and
	// the files that [Output.Spill] names. A program reaches the pair of its
	// own Owner alone, where the tier can enforce it; the pair is there for as
	// long as this process uses the directory. If empty, the run has a pair that
	// ends with it, and no output is saved.
	Private string
	// Shares are directories of the user, none below another. The first is the
	// project where Project is set: the variable PROJECT names it as the program
	// sees it.
	Shares  []Share
	Project bool
	// Egress, if set, is where the programs' connections lead. The variables that
	// tell programs of it are in Env.
	Egress Egress
	// Show are absolute, clean host paths, without symbolic links, of further
	// directories and files, none below another, which programs may read and run,
	// at the same paths. None holds the run's own directories, is in one of them or
	// holds one of Shares; what is in one of Shares is seen as that shows it.
	Show []string
	// Library, if set, is the absolute host directory that programs see at
	// [LibraryDir] and may read and run, and nobody changes before the run has ended.
	// Without it nothing is there. It is refused where [Info.Library] is empty, and
	// where one of Shares or Show is in its way.
	Library string
	// Path are absolute directories, as the program sees them, that come before
	// all others of its PATH; the shell that runs Shell is found in the others.
	Path []string
	// Redact, if set, returns a writer that passes on to w what is written to it,
	// without what nobody may see; its Close passes on the rest, and does not
	// close w. All output of the run goes through such writers, one for each
	// stream, before it is kept or shown.
	Redact func(w io.Writer) io.WriteCloser
	// Owner is whose HOME and TMPDIR the program gets: one version of a skill.
	Owner  string
	Limits Limits
	// Caller is who wants the run, so that callers wait in turns in a queue.
	// Backends ignore it.
	Caller string
	// NoWait has a queue refuse the run where it would wait.
	NoWait bool
	// Progress, if set, is called from one goroutine with the newest whole
	// line of output, at most four times a second.
	Progress func(line string)
}

// Limits bound one run. A zero field means the backend's default.
type Limits struct {
	// Timeout is wall-clock time. Default [DefaultTimeout].
	Timeout time.Duration
	// OutputBytes is how much of stdout and of stderr, each, is kept in the
	// Result: half from the head, half from the tail. Default
	// [DefaultOutputBytes].
	OutputBytes int64
	// SpillBytes is how much output, each stream, may be produced before the
	// run is killed with [OutputLimit]. Default [DefaultSpillBytes].
	SpillBytes int64
	// MemoryBytes is how much memory all processes of the run may use
	// together; beyond it the run is killed with [OutOfMemory]. Default
	// [DefaultMemoryBytes]. A backend that cannot bound the sum bounds each
	// process, and says so in [Info].
	MemoryBytes int64
	// MilliCPUs is how much processor time all processes of the run may have
	// together, in thousandths of a processor; as much as there is or more is no
	// bound. Default [DefaultMilliCPUs]. A backend that cannot bound it says so in
	// [Info].
	MilliCPUs int
	// Processes is how many processes and threads the run may have. Default
	// [DefaultProcesses].
	Processes int
	// FileBytes is the size of the largest file that the run may write.
	// Default [DefaultFileBytes].
	FileBytes int64
	// OpenFiles is how many files a process may have open. Default
	// [DefaultOpenFiles].
	OpenFiles int
	// WorkspaceBytes is how much disk space, and WorkspaceFiles how many files
	// and directories, the workspace may hold, with all that is in
	// Spec.Private; directories that cannot be looked into, unreadable or more
	// than 64 deep, are too much. A run that leads beyond one of
	// them is killed with [QuotaExceeded] soon after. One that found it so is
	// killed where it adds to it, so that it can tidy up; what is of no program
	// that runs is removed from Spec.Private then. Default
	// [DefaultWorkspaceBytes] and [DefaultWorkspaceFiles].
	WorkspaceBytes int64
	WorkspaceFiles int
}

// Defaults of [Limits].
const (
	DefaultTimeout        = 60 * time.Second
	DefaultOutputBytes    = 32 << 10
	DefaultSpillBytes     = 16 << 20
	DefaultMemoryBytes    = 2 << 30
	DefaultMilliCPUs      = 4000
	DefaultProcesses      = 256
	DefaultFileBytes      = 1 << 30
	DefaultOpenFiles      = 4096
	DefaultWorkspaceBytes = 2 << 30
	DefaultWorkspaceFiles = 50_000
)

// Status is how a run ended.
type Status string

// The ways in which a run can end.
const (
	Exited        Status = "exited"         // with Result.ExitCode
	Signaled      Status = "signaled"       // by Result.Signal, not sent by us
	TimedOut      Status = "timeout"        // killed at Limits.Timeout
	OutputLimit   Status = "output_limit"   // killed at Limits.SpillBytes
	Canceled      Status = "canceled"       // killed because ctx ended
	OutOfMemory   Status = "out_of_memory"  // killed at Limits.MemoryBytes
	QuotaExceeded Status = "quota_exceeded" // killed for Limits.WorkspaceBytes or WorkspaceFiles
	Lost          Status = "lost"           // its container or the engine went away: how it ended is not known
)

// Result is what happened.
type Result struct {
	Status Status
	// ExitCode is 0 to 255; -1 where Status is not Exited.
	ExitCode int
	// Reason says of a run that was ended, or is [Lost], what Status does not: in one
	// sentence without its full stop and without host paths, such as that the
	// program may go on where nobody can kill it. Part of it may be a quotation of
	// what others wrote. It is empty where there is no more to say.
	Reason string
	// Signal is a POSIX name such as "SIGSEGV", or empty.
	Signal string
	// Stdout and Stderr are what the program wrote.
	Stdout, Stderr Output
	// Duration is wall-clock time from start to the death of the last
	// process.
	Duration time.Duration
	// CPUTime is user and system time of all processes, and PeakMemoryBytes
	// the most memory that was in use at once; 0 where the backend cannot
	// tell.
	CPUTime         time.Duration
	PeakMemoryBytes int64
	// LeftBehind are the names of processes that still ran when the program had
	// come to its end, and were killed then: sorted, as far as the backend can
	// tell, and no more than a few. LeftBehindOmitted counts the others. The
	// names are chosen by programs.
	LeftBehind        []string
	LeftBehindOmitted int
	// Artifacts are the files that the run made or changed in Workspace,
	// sorted by path.
	Artifacts []Artifact
	// ArtifactsOmitted counts those beyond [MaxArtifacts] and special files
	// and links, which are never artifacts.
	ArtifactsOmitted int
	// ChangesLost reports that the run was not in Workspace itself, or saw one of
	// Shares, by a copy, and that of what it changed there some or all was not
	// stored. What was stored is whole.
	ChangesLost bool
	// Shared is what became of each of Spec.Shares, in their order.
	Shared []Shared
	Info   Info
}

// Output is one captured stream.
type Output struct {
	// Data is the whole stream, or its head and tail where it was longer
	// than Limits.OutputBytes.
	Data []byte
	// Head is the length of the head in Data; equal to len(Data) where
	// nothing is missing.
	Head int
	// Total is how many bytes the program wrote.
	Total int64
	// Spill is the name of the file, in [SavedDir] of Spec.Private, that holds
	// the whole stream, or empty where Data is whole. No program reaches it.
	Spill string
}

// Artifact is one regular file in the workspace.
type Artifact struct {
	// Path is slash-separated and relative to the workspace.
	Path string
	// Size is in bytes.
	Size int64
	// Digest is "sha256:" and 64 lower-case hexadecimal characters over the
	// Size bytes. It is empty for what is beyond [MaxDigestBytes], and for a
	// file that another run in the same workspace was changing.
	Digest string
}

// MaxArtifacts is how many artifacts a Result lists.
const MaxArtifacts = 100

// MaxDigestBytes is how many bytes of artifacts a Result has digests of, those
// of small files first.
const MaxDigestBytes = 256 << 20

// LibraryDir is where programs see [Spec.Library].
const LibraryDir = "/mnt/skills"

// SavedDir is the directory in Spec.Private of the files that [Output.Spill]
// names.
const SavedDir = "output"

// PrivateDir is the directory at the top of a workspace that belongs to the
// backend: files that come back from an engine are in it until they are whole.
// What is in it is never an artifact.
const PrivateDir = ".skills-mcp"
