package protocol

import (
	"bytes"
	"encoding/binary"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
)

// Report tells how a program ended. All numbers are big-endian.
type Report struct {
	// Errno says why the program could not be started; 0 if it was. NotStored
	// tells that the reason is that the order's files could not be stored.
	Errno     int32
	NotStored bool
	// Code is the exit code; -1 where a signal ended the program.
	Code int32
	// SignalName is the name of that signal, padded with NUL.
	SignalName [16]byte
	// Killed tells that the entry program killed the program itself, because
	// of the order's deadline or because the server let go.
	Killed bool
	// OverQuota tells that it was because of what the workspace holds.
	OverQuota bool
	// CPUNanos is user and system time of all processes.
	CPUNanos int64
	// PeakMemoryBytes is the most memory that was in use at once, and OOMKills
	// how many processes the kernel killed for the limit of memory; 0 where
	// the kernel does not tell.
	PeakMemoryBytes, OOMKills int64
	// LeftBehind are the names of processes that still ran when the program had
	// come to its end, padded with NUL, and LeftBehindOmitted counts the others.
	LeftBehind        [supervisor.MaxLeftBehind][16]byte
	LeftBehindOmitted int32
	// MemoryBytes and Processes are what the kernel holds the container to, 0
	// where it does not tell and the largest number for no bound. Told with a
	// list of programs only.
	MemoryBytes, Processes int64
}

// ReportBytes is the length of an encoded report.
var ReportBytes = binary.Size(Report{})

// SetSignal sets the name of a signal.
func (r *Report) SetSignal(name string) {
	r.Code = -1
	copy(r.SignalName[:], name)
}

// Signal gives the name of the signal, or an empty string.
func (r Report) Signal() string {
	name, _, _ := bytes.Cut(r.SignalName[:], []byte{0})
	return string(name)
}

// SetLeftBehind sets the names of processes that were left behind.
func (r *Report) SetLeftBehind(names []string, omitted int) {
	for i, name := range names {
		copy(r.LeftBehind[i][:], name)
	}
	r.LeftBehindOmitted = int32(omitted)
}

// LeftBehindNames returns them.
func (r Report) LeftBehindNames() (names []string) {
	for _, padded := range r.LeftBehind {
		if name, _, _ := bytes.Cut(padded[:], []byte{0}); len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names
}

// Encode gives the report as it is written.
func (r Report) Encode() []byte {
	encoded, _ := binary.Append(nil, binary.BigEndian, r) // a struct of fixed size cannot fail
	return encoded
}

// DecodeReport reads what Encode gave.
func DecodeReport(encoded []byte) (r Report, err error) {
	_, err = binary.Decode(encoded, binary.BigEndian, &r)
	return r, err
}
