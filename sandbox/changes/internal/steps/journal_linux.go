package steps

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// A journal has a line of JSON for each thing that is about to be done to the
// user's files, which is on the disk before it is done, and one for each that
// was done. Of a process that was killed, it says what to look at.

// Line is one line of a journal. Exactly one field is set.
type Line struct {
	Begin *Begin `json:"begin,omitempty"`
	Step  *Step  `json:"step,omitempty"`
	Temp  *temp  `json:"temp,omitempty"`
	Done  *Done  `json:"done,omitempty"`
	Skip  *skip  `json:"skip,omitempty"`
	End   *End   `json:"end,omitempty"`
}

// Begin says what is applied where.
type Begin struct {
	Target Target     `json:"target"`
	Root   files.Root `json:"root"`
	Held   string     `json:"held"`
	When   time.Time  `json:"when"`
}

// Op is what a step does.
type Op string

// What steps do.
const (
	OpPut    Op = "put"    // a file, link or directory in the place of nothing, or of a file or link
	OpRemove Op = "remove" // a file or link
	OpRmdir  Op = "rmdir"
	OpChmod  Op = "chmod"
)

// Step is one thing that is done to one path.
type Step struct {
	N    int          `json:"n"`
	Op   Op           `json:"op"`
	Path string       `json:"path"`
	Old  *files.State `json:"old,omitempty"`
	New  *files.State `json:"new,omitempty"`
	// Temp is the name in the path's directory under which what is put is made,
	// and under which what is replaced or removed is until it goes.
	Temp string `json:"temp,omitempty"`
	// Keep is the name of the copy of a regular file that is replaced or
	// removed.
	Keep string `json:"keep,omitempty"`
}

// temp says which inode was made under a step's temporary name.
type temp struct {
	N     int    `json:"n"`
	Inode uint64 `json:"inode"`
}

// Done says what the path is after a step; nothing after a removal.
type Done struct {
	N   int          `json:"n"`
	New *files.State `json:"new,omitempty"`
}

// skip says that a step was not done and left nothing.
type skip struct {
	N int `json:"n"`
}

// End says that all is done.
type End struct {
	Interrupted bool      `json:"interrupted,omitempty"`
	When        time.Time `json:"when"`
}

// Journal is one that is written.
type Journal struct {
	file   *os.File
	failed error
}

// CreateJournal makes a journal that is not there yet.
func CreateJournal(name string) (*Journal, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &Journal{file: file}, nil
}

// ContinueJournal opens a journal of which so many bytes are whole lines.
func ContinueJournal(name string, whole int64) (*Journal, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(whole); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Journal{file: file}, nil
}

// Close ends the use of the journal.
func (j *Journal) Close() error { return j.file.Close() }

// write appends a line, in one write, which a kill leaves whole or out.
// After one that may be cut off there are no more.
func (j *Journal) write(l Line) error {
	if j.failed != nil {
		return j.failed
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, j.failed = j.file.Write(append(data, '\n'))
	return j.failed
}

// Sync writes a line to the disk, with all before it.
func (j *Journal) Sync(l Line) error {
	if err := j.write(l); err != nil {
		return err
	}
	return j.file.Sync()
}

// Log is what a journal says.
type Log struct {
	Begin Begin
	Steps []*Step // in order
	Temps map[int]uint64
	Done  map[int]*Done
	Skip  map[int]bool
	End   *End
}

var errJournal = errors.New("the journal cannot be understood")

// ParseJournal reads a journal, of which the last line may be cut off.
func ParseJournal(data []byte) (*Log, error) {
	l := &Log{Temps: map[int]uint64{}, Done: map[int]*Done{}, Skip: map[int]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	begun := false
	for at := 0; lines.Scan(); {
		at += len(lines.Bytes()) + 1
		var next Line
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			if at > len(data) {
				break // cut off
			}
			return nil, errJournal
		}
		if next.Begin != nil {
			l.Begin, begun = *next.Begin, true
		}
		if err := l.add(next); err != nil {
			return nil, err
		}
	}
	if !begun {
		return nil, errJournal
	}
	return l, lines.Err()
}

func (l *Log) add(next Line) error {
	switch {
	case next.Step != nil:
		if next.Step.N != len(l.Steps) || !next.Step.valid() {
			return errJournal
		}
		l.Steps = append(l.Steps, next.Step)
	case next.Temp != nil:
		l.Temps[next.Temp.N] = next.Temp.Inode
	case next.Done != nil:
		l.Done[next.Done.N] = next.Done
	case next.Skip != nil:
		l.Skip[next.Skip.N] = true
	case next.End != nil:
		l.End = next.End
	}
	return nil
}

// valid reports whether a step can be one that was written.
func (s *Step) valid() bool {
	plain := func(name string) bool {
		return name != "." && name != ".." && !bytes.ContainsAny([]byte(name), "/\x00")
	}
	if !plain(s.Temp) || !plain(s.Keep) || !filepath.IsLocal(s.Path) {
		return false
	}
	switch s.Op {
	case OpPut:
		return s.New != nil && s.Temp != ""
	case OpRemove:
		return s.Old != nil && s.Temp != ""
	case OpRmdir:
		return s.Old != nil
	case OpChmod:
		return s.Old != nil && s.New != nil
	}
	return false
}

// Reverse returns the step that takes back one that was done.
func (s *Step) Reverse(d *Done) Step {
	back := Step{Path: s.Path, Old: d.New, New: s.Old}
	switch {
	case s.Op == OpChmod:
		back.Op = OpChmod
	case s.Old != nil:
		back.Op = OpPut
	case s.New.Dir():
		back.Op = OpRmdir
	default:
		back.Op = OpRemove
	}
	return back
}
