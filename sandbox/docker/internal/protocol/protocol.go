// Package protocol is what the server and the entry program of a container
// say to each other over the container's three streams, by package wire:
//
//   - The server writes one [Order] to standard input, then the program's own
//     input, which the entry program takes at once and whole. If the order has
//     Files, those of the skill, of Read, of the workspace and of Write follow,
//     as package transfer writes them. The stream stays open: another byte, or
//     its end, which means that the server lets go or is dead, kills the program.
//   - The entry program writes [Ack] to standard output when it has the order,
//     and the files. Then come the program's streams. When no process of the
//     program is left, each stream goes on with the order's nonce, something
//     of the entry program's, and the nonce again: on standard output the
//     changes of the files of the workspace and of Write, if the order has Files,
//     on standard error a [Report].
//
// Where the container was started with an address as its argument, the entry
// program listens there before all that, and passes the listener over the socket
// at [Passage], with one byte. The server removes the socket before it writes the
// order.
//
// The entry program puts a filter of system calls on the program. Where it is
// root, for the sake of files, it is [User] before the program starts. Both
// sides come from the same commit; [Version] tells when they do not.
package protocol

import (
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// Version is that of this protocol, and of what the entry program guarantees.
// An image carries it as the label [VersionLabel].
const (
	Version      = "12"
	VersionLabel = "skills-mcp.entry"
)

// Path is where an image has the entry program, PassageDir is the directory in
// which it finds the socket of the server, and Passage is that socket.
const (
	Path       = dir + "/entry"
	PassageDir = dir + "/passage"
	Passage    = PassageDir + "/socket"

	dir = "/usr/local/lib/skills-mcp"
)

// The directories of a run as its program sees them.
const (
	SkillDir  = "/skill"
	Workspace = "/workspace"
	Private   = "/private" // what is of the skill alone
	Home      = Private + "/home"
	Tmp       = Private + "/tmp"
)

// User and group of programs whose files are copied: nobody.
const User = 65534

// Ack is the first byte on standard output, and Kill a byte on standard input
// behind everything else.
const (
	Ack  = 0x06
	Kill = 0x18
)

// Order is what is to be run.
type Order struct {
	// Nonce cannot be guessed, so that no program can forge the end of its
	// streams.
	Nonce string
	// Dir is where the program starts.
	Dir string
	// Argv is the absolute path of the program and its arguments, and Env its
	// whole environment. If Argv is empty, Env are directories, and the
	// executables there are listed on standard output instead, each ended by
	// NUL, once Dir was found to be writable.
	Argv, Env []string
	// FileBytes is the size of the largest file that the program may write,
	// and OpenFiles how many it may have open; 0 means no other limit than
	// the container's.
	FileBytes, OpenFiles uint64
	// StdinBytes is how much input follows.
	StdinBytes uint64
	// Files means that files are copied: the workspace holds, at most,
	// WorkspaceBytes and WorkspaceFiles, or as much as it did before the
	// program. 0 means no limit.
	Files                          bool
	WorkspaceBytes, WorkspaceFiles uint64
	// Read and Write are directories of the user of which the files are copied
	// besides, by their paths: programs can change those of Write.
	Read, Write []string
	// Timeout is after how long everything is killed, in case that the server
	// cannot see to it.
	Timeout time.Duration
}

// Fields implements [wire.Message].
func (o *Order) Fields(t *wire.Transfer) {
	t.String(&o.Nonce)
	t.String(&o.Dir)
	t.Strings(&o.Argv)
	t.Strings(&o.Env)
	wire.Int(t, &o.FileBytes)
	wire.Int(t, &o.OpenFiles)
	wire.Int(t, &o.StdinBytes)
	t.Bool(&o.Files)
	wire.Int(t, &o.WorkspaceBytes)
	wire.Int(t, &o.WorkspaceFiles)
	t.Strings(&o.Read)
	t.Strings(&o.Write)
	wire.Int(t, &o.Timeout)
}

// MaxReportBytes is more than a report takes.
const MaxReportBytes = 4 << 10

// Report is how a program ended.
type Report struct {
	// Errno says why the program could not be started; 0 if it was. NotStored
	// means that the order's files could not be stored.
	Errno     int
	NotStored bool
	// Ending has Killed where the entry program killed the program itself: for
	// the order's timeout, because the server let go, or, with OverQuota, for
	// what the workspace holds.
	reaper.Ending
	OverQuota bool
	// PeakMemoryBytes is the most memory that was in use at once, and OOMKills
	// how many processes the kernel killed for the limit of memory; 0 where
	// the kernel does not tell.
	PeakMemoryBytes, OOMKills int64
	// MemoryBytes and Processes are what the kernel holds the container to, 0
	// where it does not tell and the largest number for no bound. They come
	// with a list of programs only.
	MemoryBytes, Processes int64
}

// Fields implements [wire.Message].
func (r *Report) Fields(t *wire.Transfer) {
	wire.Int(t, &r.Errno)
	t.Bool(&r.NotStored)
	r.Ending.Fields(t)
	t.Bool(&r.OverQuota)
	wire.Int(t, &r.PeakMemoryBytes)
	wire.Int(t, &r.OOMKills)
	wire.Int(t, &r.MemoryBytes)
	wire.Int(t, &r.Processes)
}
