// Package filestat returns what [fs.FileInfo] leaves to the system: which file
// it describes, and by what its states differ.
package filestat

import (
	"io/fs"
	"time"
)

// SettleTime is the coarsest time stamp that file systems in use have (FAT). A
// file that changed less than this before it was read can change again without
// a trace in its times.
const SettleTime = 2 * time.Second

// ID tells files apart, whatever their names. It is zero where the system has
// none.
type ID struct{ Device, Inode uint64 }

// State is what a file has in one state and not in another, without reading it.
type State struct {
	ID
	Size     int64 // bytes
	Modified int64 // time of the last write, in nanoseconds since 1970
	Changed  int64 // time of the last change of status in the same unit, or zero where the system has none
}

// Of returns the state that info describes.
func Of(info fs.FileInfo) State {
	state := State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	state.ID, state.Changed = identify(info)
	return state
}

// Known reports whether the system says all of a state. Otherwise another
// file, or another state, may look the same.
func (s State) Known() bool { return s.Changed != 0 }

// Settled reports whether what was read at that time is the content of every
// file that is found in this state.
func (s State) Settled(read time.Time) bool {
	return max(s.Modified, s.Changed) < read.Add(-SettleTime).UnixNano()
}
