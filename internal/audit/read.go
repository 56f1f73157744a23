package audit

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// Filter says which records are wanted. A field that is zero wants all.
type Filter struct {
	// Since is the earliest time.
	Since time.Time
	// Skill and Tool are whole names.
	Skill, Tool string
	// Outcomes are those that are wanted.
	Outcomes []Outcome
}

// Wants reports whether a record is wanted.
func (f Filter) Wants(r Record) bool {
	return !r.Time.Before(f.Since) &&
		(f.Skill == "" || r.Skill == f.Skill) &&
		(f.Tool == "" || r.Tool == f.Tool) &&
		(len(f.Outcomes) == 0 || slices.Contains(f.Outcomes, r.Outcome))
}

// Reader reads the log of a directory as it was when the reader was made.
type Reader struct {
	// Broken is how many lines so far were no records, or of a later format.
	Broken int

	parts   []part
	running map[string][]byte // by their ids: what has not ended
}

// part is a file of the log.
type part struct {
	path string
	file *os.File
	size int64 // when it was opened
}

// NewReader opens the files of a log, rotated ones too, also such as were
// compressed by gzip since. There need be none. The caller closes the reader.
func NewReader(dir string) (*Reader, error) {
	d, err := newDirectory(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{running: map[string][]byte{}}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return r, nil
	} else if err != nil {
		return nil, err
	}
	// A file that is rotated meanwhile would be read twice, or not. Where nothing
	// can be locked nothing can be written.
	if unlock, err := d.lock(); err == nil {
		defer unlock()
	}
	if err := r.open(d); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// open opens the files, the oldest first.
func (r *Reader) open(d directory) error {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	var names []string // in order, as times are
	for _, entry := range entries {
		if rotated, _ := filepath.Match(rotatedGlob, strings.TrimSuffix(entry.Name(), ".gz")); rotated {
			names = append(names, entry.Name())
		}
	}
	for _, name := range append(names, currentName) {
		path := filepath.Join(string(d), name)
		file, err := os.OpenFile(path, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock|openflag.NoTerminal, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = &placeError{path, "is no regular file"}
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		r.parts = append(r.parts, part{path, file, info.Size()})
	}
	return r.openRunning(d.running())
}

// openRunning reads what has not ended.
func (r *Reader) openRunning(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		_, id, isLine := strings.Cut(strings.TrimSuffix(entry.Name(), runningExt), "-")
		if !isLine {
			continue
		}
		line, err := readRegular(filepath.Join(dir, entry.Name()), maxLineBytes)
		if err != nil {
			return err
		}
		r.running[id] = line
	}
	return nil
}

// Records returns the records, the oldest first, and last what has not ended,
// as [Unfinished]. A file that cannot be read ends with an error, after which
// the next one follows.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, p := range r.parts {
			if !r.readPart(p, yield) {
				return
			}
		}
		var left []Record
		for _, line := range r.running {
			if record, ok := r.parse(line); ok {
				left = append(left, record)
			}
		}
		slices.SortFunc(left, func(a, b Record) int { return a.Time.Compare(b.Time) })
		for _, record := range left {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// readPart yields the records of a file, and reports whether more are wanted.
func (r *Reader) readPart(p part, yield func(Record, error) bool) bool {
	content, err := p.content()
	if err != nil {
		return yield(Record{}, fmt.Errorf("%s: %w", p.path, err))
	}
	lines := bufio.NewReaderSize(content, maxLineBytes)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = nil, skipLine(lines) // and what was read of it
			r.Broken++
		}
		if record, ok := r.parse(line); ok && !yield(record, nil) {
			return false
		}
		switch {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			return yield(Record{}, fmt.Errorf("%s: %w", p.path, err))
		}
	}
}

// content returns what a file held when it was opened, from its beginning.
func (p part) content() (io.Reader, error) {
	content := io.NewSectionReader(p.file, 0, p.size)
	if filepath.Ext(p.path) == ".gz" {
		return gzip.NewReader(content)
	}
	return content, nil
}

// skipLine reads to the end of a line that is too long.
func skipLine(lines *bufio.Reader) error {
	for {
		if _, err := lines.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// parse returns the record of a line. Fields of later formats are passed over.
func (r *Reader) parse(line []byte) (record Record, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return Record{}, false
	}
	if json.Unmarshal(line, &record) != nil || record.Version != Version || record.Time.IsZero() {
		r.Broken++
		return Record{}, false
	}
	if record.Outcome != Unfinished {
		delete(r.running, record.ID) // its process had no time to remove it
	}
	return record, true
}

// Close closes the files.
func (r *Reader) Close() error {
	var errs []error
	for _, p := range r.parts {
		errs = append(errs, p.file.Close())
	}
	return errors.Join(errs...)
}
