// Package escape is a suite of attempts to get out of a sandbox, for every
// backend to try:
//
//	outcomes := escape.Try(t, backend)
//
// Each attempt is first made by a plain subprocess, where it must succeed: one
// that cannot work proves nothing. What it is made of, the test sets up as
// victims: files, processes, sockets and queues of its own.
//
// One process starts those that do not disturb each other, as in the plain
// subprocess is shown: there every one succeeds after the others. In a sandbox
// one that changes what the others meet has succeeded, and is reported.
//
// The program that makes the attempts is the test binary itself, copied into
// a skill. It is for Linux.
package escape

import (
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Outcome is how one attempt ended.
type Outcome string

// The outcomes.
const (
	// Blocked means that the attempt failed, as it should.
	Blocked Outcome = "blocked"
	// Open means that it succeeded.
	Open Outcome = "open"
	// NotShown means that it fails on this machine even without a sandbox.
	NotShown Outcome = "not shown"
)

// Attempt is one way out.
type Attempt struct {
	// Name is stable and tells what is attempted, such as "read-file".
	Name string
	// Group is what it is about, such as "files".
	Group string
	// Root says that an ordinary user cannot do it, sandbox or not.
	Root bool
	// Rare says that it takes what many machines do not have, so that it
	// need not succeed without a sandbox.
	Rare bool
	// Shell is the program, and Try is it where it is written in Go. An
	// attempt succeeds with exit code 0, and where Done is set only if that
	// finds its effect outside of the sandbox.
	Shell string
	Try   func(Victims) error
	Done  func(Victims) bool
	// Limits are those of its run.
	Limits sandbox.Limits
	// Alone says that it is about the process that started it, or about where
	// that started it, so that a sandbox starts it for itself.
	Alone bool
	// Apart gives it, where it is made without a sandbox by root, a network of
	// its own: it would take what is the machine's.
	Apart bool
}

// Victims are what attempts are about.
type Victims struct {
	// Dir is a directory outside of the sandbox, for this attempt alone. It
	// holds the file "secret".
	Dir string
	// Handle is what names that file to the kernel alone, as name_to_handle_at(2)
	// tells it, and HandleType the form of it.
	Handle     []byte
	HandleType int32
	// PID is a process of the same user, which holds a secret in its
	// environment and memory.
	PID int
	// TCP, TCP6, UDP and UDP6 are ports of listeners on loopback.
	TCP, TCP6, UDP, UDP6 int
	// Address is one of the machine's own in another network, with a listener
	// at the port AddressTCP; Interface is where it is, and Group a group of
	// hosts, with its port, of which a listener there is a member. They are
	// empty where the machine has none.
	Address, Interface, Group string
	AddressTCP                int
	// Proxy is what takes the connections of a program that has a grant, and empty
	// where it has none.
	Proxy string
	// Library is a directory of [sandbox.Spec.Library], as the attempt finds it, and
	// Skill where that is on the machine.
	Library, Skill string
	// Callback is a port of this machine that somebody keeps connecting to.
	Callback int
	// Stream and Datagram are paths of Unix sockets, Abstract is the name of
	// another.
	Stream, Datagram, Abstract string
	// SharedMemory and Queue are identifiers of System V objects, and
	// MessageQueue is the name of a POSIX one.
	SharedMemory, Queue int
	MessageQueue        string
	HostName            string
	MachineID, BootID   string
	// Booted is when the machine was started, by what it tells at the start.
	Booted time.Time
	// DiskBlocks is the size of the disk that the workspace is on.
	DiskBlocks uint64
	// Logs is the identity of the directory of logs.
	Logs string
	// Marker is a name that nothing else has.
	Marker string
}

// secret is what must not get out.
const secret = "the secret of the escape suite"
