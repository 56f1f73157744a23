// Package archive extracts archives of skills, which are ZIP files, into
// temporary directories, and again when their content changed.
//
// What an archive holds is not trusted: it is checked whole before anything is
// written, bounded in size, and written through [os.Root].
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// dirPrefix begins the name of a catalog's directory of extracted
// archives.
const dirPrefix = "skills-mcp-catalog-"

// Is reports whether a file is taken for an archive of skills by its name.
func Is(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".skill" || ext == ".zip"
}

// Archives are the archives of a catalog, each extracted once for every
// content it has had. The zero value is empty.
type Archives struct {
	base    *tempdir.Dir // nil until it is needed
	known   map[string]*extraction
	retired []retired // to be removed when a scan begins
	used    map[string]bool
}

// retired is a directory that was superseded.
type retired struct {
	dir  string
	when time.Time
}

// extraction is an archive as it was last looked at.
type extraction struct {
	state    filestat.State
	read     time.Time         // when it was read; zero if it has to be again
	sum      [sha256.Size]byte // of the content
	problems []problem.Problem // what that content is to blame for
	dir      string            // of the last good content, or empty
}

// Begin removes what was superseded before the last scan ended, and that long ago:
// by now no request should hold a snapshot that knows it.
func (a *Archives) Begin(ago time.Duration) {
	a.retired = slices.DeleteFunc(a.retired, func(old retired) bool {
		if time.Since(old.when) < ago {
			return false
		}
		// What stays is removed at close.
		_ = os.RemoveAll(old.dir)
		return true
	})
	a.used = map[string]bool{}
}

// End retires the archives that are gone.
func (a *Archives) End() {
	for path, x := range a.known {
		if !a.used[path] {
			delete(a.known, path)
			a.retire(x)
		}
	}
}

func (a *Archives) retire(x *extraction) {
	if x.dir != "" {
		a.retired = append(a.retired, retired{filepath.Dir(x.dir), time.Now()})
	}
}

// Close removes everything.
func (a *Archives) Close() error {
	base := a.base
	*a = Archives{}
	if base == nil {
		return nil
	}
	return base.Close()
}

// Open returns the directory with the contents of the archive at path, or an
// empty string where it never had any that could be used. While the archive
// is broken its last good contents stay.
func (a *Archives) Open(r *problem.Report, path string) string {
	a.used[path] = true
	x := a.known[path]
	if x == nil {
		x = &extraction{}
	}
	switch err := a.update(x, path, r.Mode); {
	case errors.Is(err, fs.ErrNotExist):
		return x.dir // it went away during the scan
	case err != nil:
		r.Add("archive-format", problem.Position{}, "the archive cannot be read: %v", problem.Cause(err))
		return x.dir
	}
	if a.known == nil {
		a.known = map[string]*extraction{}
	}
	a.known[path] = x
	for _, problem := range x.problems {
		problem.File = r.File
		r.Problems = append(r.Problems, problem)
	}
	return x.dir
}

// update extracts the archive if its content changed.
func (a *Archives) update(x *extraction, path string, mode problem.Mode) error {
	file, err := os.OpenFile(path, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	read := time.Now()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	}
	if _, err := os.Stat(x.dir); err != nil && x.dir != "" {
		x.read = time.Time{} // somebody cleaned the temporary directory up
	}
	state := filestat.Of(info)
	if !x.read.IsZero() && x.state == state && state.Settled(x.read) {
		return nil
	}
	sum, size, err := digest(file)
	if err != nil || !x.read.IsZero() && x.sum == sum {
		return err
	}
	r := &problem.Report{Mode: mode}
	dir, err := a.extract(r, file, size, sum, stemOf(path))
	if err != nil {
		return err
	}
	if again, _, err := digest(file); err != nil || again != sum {
		// It is being written. The next scan sees what comes of it.
		x.read = time.Time{}
		if dir != "" {
			err = errors.Join(err, os.RemoveAll(filepath.Dir(dir)))
		}
		return err
	}
	x.state, x.read, x.sum = state, read, sum
	x.problems = r.Problems
	switch {
	case dir != "":
		a.retire(x)
		x.dir = dir
	case x.dir != "":
		for i := range x.problems {
			x.problems[i].Message += "; its last good contents stay published"
		}
	}
	return nil
}

// stemOf returns the name of an archive without its directory and extension.
func stemOf(path string) string {
	name := filepath.Base(path)
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); stem != "" {
		return stem
	}
	return "skill"
}

// digest returns the SHA-256 and the size of at most the first bytes that an
// archive may have; what is longer is refused anyway.
func digest(file *os.File) (sum [sha256.Size]byte, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, io.NewSectionReader(file, 0, maxBytes+1))
	hash.Sum(sum[:0])
	return sum, size, err
}

// makeBase makes the directory of all extractions, again if somebody cleaned
// the temporary directory up. What is made again must be known to be in use,
// or the next server that starts removes it.
func (a *Archives) makeBase() error {
	if a.base != nil {
		if _, err := os.Stat(a.base.Path()); err == nil {
			return nil
		}
		_ = a.base.Close() // there is nothing left to remove
	}
	base, err := tempdir.New("", dirPrefix)
	a.base = base
	return err
}

// extract unpacks an archive into a directory of its own, in one that holds it
// alone. A fault of the archive is reported, and dir is empty then; the error
// is one of this machine.
func (a *Archives) extract(r *problem.Report, file *os.File, size int64, sum [sha256.Size]byte, name string) (dir string, err error) {
	if err := a.makeBase(); err != nil {
		return "", err
	}
	parent, err := os.MkdirTemp(a.base.Path(), hex.EncodeToString(sum[:8])+"-")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(parent, name)
	if err = os.Mkdir(dir, 0o755); err == nil {
		err = unpack(file, size, dir)
	}
	if err == nil {
		return dir, nil
	}
	removed := os.RemoveAll(parent)
	if broken, ok := errors.AsType[*Fault](err); ok && removed == nil {
		r.Add(broken.Rule, problem.Position{}, "%s", broken.message)
		return "", nil
	}
	return "", errors.Join(err, removed)
}
