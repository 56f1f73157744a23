package steps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// Transaction changes files of the user, one step after the other, by a journal.
type Transaction struct {
	Ctx     context.Context
	Target  *files.Tree
	Journal *Journal
	Kept    string // directory of the files that are replaced or removed, or empty
	Next    int    // number of the next step
	broken  error  // of the journal: nothing is done any more
	// Source opens the new content of a regular file.
	Source func(s *Step) (*os.File, error)
	// Original says that what is put was there before: it gets its owner and its
	// time of modification again.
	Original bool
}

// Conflict is why the user's file is not what it was to be.
type Conflict string

// refusal is why something could not be done.
type refusal string

func (c Conflict) Error() string { return string(c) }
func (r refusal) Error() string  { return string(r) }

// ErrDone means that there was nothing to do.
var ErrDone = errors.New("done already")

// Fault is called at each moment at which a test may kill the process.
var Fault = func(string) {}

const tempPrefix = ".skills-mcp-"

// Do does one step, or nothing. The error is a [Conflict], a [refusal] or
// [ErrDone].
func (t *Transaction) Do(s Step) error {
	if t.broken != nil {
		return refusal("the journal cannot be written: there may be no space left for the state of skills-mcp")
	}
	if t.Ctx.Err() != nil {
		return refusal("it was canceled before this")
	}
	w, err := t.open(&s)
	if err != nil {
		return err
	}
	defer w.close()
	if err := t.begin(w); err != nil {
		return err
	}
	Fault("begun")
	if err := w.perform(); err != nil {
		return t.skip(&s, err)
	}
	Fault("performed")
	t.finish(w)
	return nil
}

// begin keeps what is about to go, and writes to the journal what is about to
// be done.
func (t *Transaction) begin(w *work) error {
	s := w.step
	s.N = t.Next
	if s.Op == OpPut || s.Op == OpRemove {
		s.Temp = tempPrefix + NewName()
	}
	if t.Kept != "" && w.now.Regular() && s.Op != OpChmod {
		s.Keep = strconv.Itoa(s.N)
		if err := w.keep(filepath.Join(t.Kept, s.Keep)); err != nil {
			return err
		}
	}
	Fault("kept")
	if s.Old != nil {
		is := *w.now
		is.Digest = s.Old.Digest
		s.Old = &is
	}
	t.Next++
	if err := t.Journal.Sync(Line{Step: s}); err != nil {
		t.broken = err
		return refusal("the journal cannot be written: " + files.Reason(err))
	}
	return nil
}

// skip writes that a step was not done.
func (t *Transaction) skip(s *Step, why error) error {
	if err := t.Journal.write(Line{Skip: &skip{s.N}}); err != nil {
		t.broken = err
	}
	return why
}

// finish writes what the path is now. Where that cannot be written, recovery
// sees it.
func (t *Transaction) finish(w *work) {
	d := &Done{N: w.step.N}
	if w.step.New != nil {
		now, err := files.StateAt(w.dirfd(), w.base)
		if err != nil { // the user was quick
			now = w.step.New
		}
		now.Digest = w.step.New.Digest
		d.New = now
	}
	if err := t.Journal.write(Line{Done: d}); err != nil {
		t.broken = err
	}
	Fault("done")
}
