package changes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// A journal has a line of JSON for each thing that is about to be done to the
// user's files, which is on the disk before it is done, and one for each that
// was done. Of a process that was killed, it says what to look at.

// line is one line of a journal. Exactly one field is set.
type line struct {
	Begin *begin `json:"begin,omitempty"`
	Step  *step  `json:"step,omitempty"`
	Temp  *temp  `json:"temp,omitempty"`
	Done  *done  `json:"done,omitempty"`
	Skip  *skip  `json:"skip,omitempty"`
	End   *end   `json:"end,omitempty"`
}

// begin says what is applied where.
type begin struct {
	Target Target    `json:"target"`
	Root   root      `json:"root"`
	Held   string    `json:"held"`
	When   time.Time `json:"when"`
}

// op is what a step does.
type op string

const (
	opPut    op = "put"    // a file, link or directory in the place of nothing, or of a file or link
	opRemove op = "remove" // a file or link
	opRmdir  op = "rmdir"
	opChmod  op = "chmod"
)

// step is one thing that is done to one path.
type step struct {
	N    int    `json:"n"`
	Op   op     `json:"op"`
	Path string `json:"path"`
	Old  *state `json:"old,omitempty"`
	New  *state `json:"new,omitempty"`
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

// done says what the path is after a step; nothing after a removal.
type done struct {
	N   int    `json:"n"`
	New *state `json:"new,omitempty"`
}

// skip says that a step was not done and left nothing.
type skip struct {
	N int `json:"n"`
}

// end says that all is done.
type end struct {
	Interrupted bool      `json:"interrupted,omitempty"`
	When        time.Time `json:"when"`
}

// journal is one that is written.
type journal struct{ file *os.File }

func createJournal(name string) (*journal, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_EXCL, 0o600)
	return &journal{file}, err
}

// write appends a line, in one write, which a kill leaves whole or out.
func (j *journal) write(l line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(data, '\n'))
	return err
}

// sync writes a line to the disk, with all before it.
func (j *journal) sync(l line) error {
	if err := j.write(l); err != nil {
		return err
	}
	return j.file.Sync()
}

// log is what a journal says.
type log struct {
	begin begin
	steps []*step // in order
	temps map[int]uint64
	done  map[int]*done
	skip  map[int]bool
	end   *end
}

var errJournal = errors.New("the journal cannot be understood")

// parseJournal reads a journal, of which the last line may be cut off.
func parseJournal(data []byte) (*log, error) {
	l := &log{temps: map[int]uint64{}, done: map[int]*done{}, skip: map[int]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	begun := false
	for at := 0; lines.Scan(); {
		at += len(lines.Bytes()) + 1
		var next line
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			if at > len(data) {
				break // cut off
			}
			return nil, errJournal
		}
		if next.Begin != nil {
			l.begin, begun = *next.Begin, true
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

func (l *log) add(next line) error {
	switch {
	case next.Step != nil:
		if next.Step.N != len(l.steps) || !next.Step.valid() {
			return errJournal
		}
		l.steps = append(l.steps, next.Step)
	case next.Temp != nil:
		l.temps[next.Temp.N] = next.Temp.Inode
	case next.Done != nil:
		l.done[next.Done.N] = next.Done
	case next.Skip != nil:
		l.skip[next.Skip.N] = true
	case next.End != nil:
		l.end = next.End
	}
	return nil
}

// valid reports whether a step can be one that was written.
func (s *step) valid() bool {
	plain := func(name string) bool {
		return name != "." && name != ".." && !bytes.ContainsAny([]byte(name), "/\x00")
	}
	if !plain(s.Temp) || !plain(s.Keep) || !filepath.IsLocal(s.Path) {
		return false
	}
	switch s.Op {
	case opPut:
		return s.New != nil && s.Temp != ""
	case opRemove:
		return s.Old != nil && s.Temp != ""
	case opRmdir:
		return s.Old != nil
	case opChmod:
		return s.Old != nil && s.New != nil
	}
	return false
}
