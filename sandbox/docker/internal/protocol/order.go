// Package protocol is what the server and the entry program of a container
// say to each other over the container's three streams:
//
//   - The server writes one [Order] to standard input, then the program's own
//     input, which the entry program takes at once and whole. If the order has
//     Files, those of the skill and of the workspace follow, as package
//     transfer writes them. The stream stays open: another byte, or its end,
//     which tells that the server lets go or is dead, kills the program.
//   - The entry program writes [Ack] to standard output when it has the order,
//     and the files. Then come the program's streams. When no process of the
//     program is left, the order's nonce ends each stream. On standard output
//     the changes of the workspace's files follow it, if the order has Files,
//     and the nonce again; on standard error a [Report].
//
// The entry program puts a filter of system calls on the program. Where it is
// root, for the sake of files, it is [User] before the program starts. Both
// sides come from the same commit; [Version] tells when they do not.
package protocol

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// Version is that of this protocol, and of what the entry program guarantees.
// An image carries it as the label [VersionLabel].
const (
	Version      = "7"
	VersionLabel = "skills-mcp.entry"
)

// Path is where an image has the entry program.
const Path = "/usr/local/lib/skills-mcp/entry"

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

// NonceBytes is the length of a nonce.
const NonceBytes = 16

// MaxOrderBytes is the longest order that is read. Linux takes about 2 MiB of
// arguments and environment.
const MaxOrderBytes = 16 << 20

// errMalformed means that the two sides do not speak the same protocol.
var errMalformed = errors.New("malformed order")

// Order tells what to run.
type Order struct {
	// Nonce cannot be guessed, so that no program can forge the end of its
	// streams.
	Nonce [NonceBytes]byte
	// Dir is where the program starts.
	Dir string
	// Argv is the absolute path of the program and its arguments. If empty,
	// the executables on PATH are listed on standard output instead, each
	// ended by NUL, once Dir was found to be writable.
	Argv []string
	// Env is the whole environment.
	Env []string
	// FileBytes is the size of the largest file that the program may write,
	// and OpenFiles how many it may have open; 0 means no other limit than
	// the container's.
	FileBytes, OpenFiles uint64
	// StdinBytes is how much input follows.
	StdinBytes uint64
	// Files tells that files are copied: the workspace holds, at most,
	// WorkspaceBytes and WorkspaceFiles, or as much as it did before the
	// program. 0 means no limit.
	Files                          bool
	WorkspaceBytes, WorkspaceFiles uint64
	// Deadline is after how long everything is killed, in case that the
	// server cannot see to it.
	Deadline time.Duration
}

// Encode gives the order as it is written: the length of the rest as four
// bytes, the nonce, numbers, and three lists.
func (o Order) Encode() []byte {
	frame := make([]byte, 4, 1024)
	frame = append(frame, o.Nonce[:]...)
	files := uint64(0)
	if o.Files {
		files = 1
	}
	for _, number := range []uint64{
		o.StdinBytes, uint64(o.Deadline), o.FileBytes, o.OpenFiles, files, o.WorkspaceBytes, o.WorkspaceFiles,
	} {
		frame = binary.AppendUvarint(frame, number)
	}
	for _, list := range [][]string{{o.Dir}, o.Argv, o.Env} {
		frame = binary.AppendUvarint(frame, uint64(len(list)))
		for _, text := range list {
			frame = binary.AppendUvarint(frame, uint64(len(text)))
			frame = append(frame, text...)
		}
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// ReadOrder reads an order, and nothing beyond it.
func ReadOrder(r io.Reader) (Order, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return Order{}, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > MaxOrderBytes {
		return Order{}, errMalformed
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return Order{}, err
	}
	return decode(frame)
}

func decode(frame []byte) (Order, error) {
	d := decoder{rest: frame}
	var o Order
	copy(o.Nonce[:], d.take(NonceBytes))
	o.StdinBytes = d.number()
	o.Deadline = time.Duration(d.number())
	o.FileBytes, o.OpenFiles = d.number(), d.number()
	o.Files = d.number() != 0
	o.WorkspaceBytes, o.WorkspaceFiles = d.number(), d.number()
	dir := d.list()
	o.Argv, o.Env = d.list(), d.list()
	if d.failed || len(d.rest) > 0 || len(dir) != 1 {
		return Order{}, errMalformed
	}
	o.Dir = dir[0]
	return o, nil
}

// decoder takes a frame apart. After its first failure it gives zero values.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.rest)) {
		d.failed = true
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.failed = true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) list() []string {
	count := d.number()
	if count > uint64(len(d.rest)) { // each text takes a byte at least
		d.failed = true
		return nil
	}
	list := make([]string, 0, count)
	for range count {
		list = append(list, string(d.take(d.number())))
	}
	return list
}
