// Package disk measures and repairs directories that untrusted programs write,
// and may be writing meanwhile.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

const (
	// maxMeasured is how many files and directories a workspace may hold to be
	// measured whole.
	maxMeasured = 100_000
	// maxMeasuredDepth is how many directories deep it may be.
	maxMeasuredDepth = 64
	// measuredBatch is how many of a directory are looked at together.
	measuredBatch = 256
)

// Usage is what a workspace holds.
type Usage struct {
	// Bytes is the disk space that files and directories have, where the
	// system tells; else the sum of the files' sizes.
	Bytes int64
	// Files counts files and directories, links and all else.
	Files int
	// Missed counts directories that could not be looked into, unreadable or
	// too deep, and one for all that was left out where the measurement ended
	// early. That could be anything.
	Missed int
}

// Unbounded is more than any directory holds, so that with it a measurement has
// no bounds but its own.
var Unbounded = Usage{Bytes: math.MaxInt64, Files: math.MaxInt, Missed: math.MaxInt}

// Exceeds reports whether there is more than most, in any of the fields.
func (u Usage) Exceeds(most Usage) bool {
	return u.Bytes > most.Bytes || u.Files > most.Files || u.Missed > most.Missed
}

// Measure returns what the directory of a workspace holds, down to 64 directories
// deep. It ends early once it has counted more than most, or more than 100,000
// files and directories. What it counts it passes to visit, if that is set, with
// its slash-separated path.
//
// What is there was made by untrusted programs, which may still run: nothing
// but directories is opened, and nothing outside is looked at. The error is
// that the workspace cannot be opened.
func Measure(dir string, most Usage, visit func(path string, info fs.FileInfo)) (Usage, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Usage{}, err
	}
	defer root.Close()
	most.Files = min(most.Files, maxMeasured)
	m := measurement{most: most, visit: visit}
	m.in(root, ".", ".", 0)
	if m.used.Exceeds(most) {
		m.used.Missed++
	}
	return m.used, nil
}

// MeasureAll returns what directories hold together. One that is not there holds
// nothing; one that cannot be opened could hold anything.
func MeasureAll(most Usage, dirs ...string) (all Usage) {
	for _, dir := range dirs {
		used, err := Measure(dir, Usage{most.Bytes - all.Bytes, most.Files - all.Files, most.Missed - all.Missed}, nil)
		all = all.Add(used)
		if err != nil && !vanished(err) {
			all.Missed++
		}
		if all.Exceeds(most) {
			break
		}
	}
	return all
}

// Add returns the sum.
func (u Usage) Add(more Usage) Usage {
	return Usage{u.Bytes + more.Bytes, u.Files + more.Files, u.Missed + more.Missed}
}

type measurement struct {
	most  Usage
	visit func(path string, info fs.FileInfo) // or nil
	used  Usage
}

// in counts what is in one directory and below, which has a name in the one
// above and a path. It takes a descriptor for each directory that holds others:
// by their paths from the top, many directories would cost several times more.
func (m *measurement) in(above *os.Root, name, path string, depth int) {
	dirs, err := m.count(above, name, path, depth)
	if err != nil && !vanished(err) {
		m.used.Missed++
	}
	if len(dirs) == 0 || m.used.Exceeds(m.most) {
		return
	}
	root, err := above.OpenRoot(name)
	if err != nil {
		if !vanished(err) {
			m.used.Missed++
		}
		return
	}
	defer root.Close()
	for _, dir := range dirs {
		if m.used.Exceeds(m.most) {
			return
		}
		m.in(root, dir, join(path, dir), depth+1)
	}
}

// count counts what is in one directory and returns the directories among it.
// An error means that there may be more.
func (m *measurement) count(above *os.Root, name, path string, depth int) (dirs []string, err error) {
	if depth > maxMeasuredDepth {
		return nil, errors.New("too deep")
	}
	// It was a directory, but a program may have replaced it since: by a FIFO,
	// the opening of which must not wait.
	opened, err := above.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	for {
		infos, err := opened.Readdir(measuredBatch)
		for _, info := range infos {
			if !m.add(join(path, info.Name()), info) {
				return nil, nil
			}
			if info.IsDir() {
				dirs = append(dirs, info.Name())
			}
		}
		if err == io.EOF || err == nil && len(infos) == 0 {
			return dirs, nil
		}
		if err != nil {
			return dirs, err
		}
	}
}

// join is [path.Join] for what is clean.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// add counts what has a path, and reports whether to go on.
func (m *measurement) add(path string, info fs.FileInfo) bool {
	m.used.Files++
	m.used.Bytes += filestat.Space(info)
	if m.visit != nil {
		m.visit(path, info)
	}
	return !m.used.Exceeds(m.most)
}

// vanished reports that what was a directory is none any more.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
