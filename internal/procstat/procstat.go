// Package procstat parses what Linux says of a process, or of a thread, in
// /proc/PID/stat (proc_pid_stat(5)).
package procstat

import (
	"bytes"
	"strconv"
)

// Stat is what such a line says.
type Stat struct {
	// Name is that of the program, cut by the kernel to 15 bytes, which may be
	// any but NUL.
	Name string
	// State is one letter: 'S' sleeps until something happens, 'Z' and 'X' are
	// dead.
	State byte
	// Parent is the pid of the parent, 0 where that is outside the namespace.
	Parent int
	// Started is when the process was started, in clock ticks since the machine
	// was.
	Started string
}

// Dead reports whether the process has ended, and at most its parent has not
// noticed yet.
func (s Stat) Dead() bool { return s.State == 'Z' || s.State == 'X' }

// Where fields lie behind the name. The manual counts from 1, with the name as 2.
const (
	state   = 0
	parent  = 1
	started = 19
)

// Parse parses a line; ok is false for anything else. The name may hold blanks
// and parentheses: it ends with the last one of the line.
func Parse(line []byte) (stat Stat, ok bool) {
	start, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if start < 0 || end < start {
		return Stat{}, false
	}
	fields := bytes.Fields(line[end+1:])
	if len(fields) <= started || len(fields[state]) != 1 {
		return Stat{}, false
	}
	above, err := strconv.Atoi(string(fields[parent]))
	if err != nil {
		return Stat{}, false
	}
	return Stat{
		Name:    string(line[start+1 : end]),
		State:   fields[state][0],
		Parent:  above,
		Started: string(fields[started]),
	}, true
}
