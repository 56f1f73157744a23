package shares

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// maxIndexBytes bounds a git index that is looked into.
const maxIndexBytes = 64 << 20

// judgement judges the changes of one set.
type judgement struct {
	rules  paths.Rules
	set    *changes.Set
	prefix string // of paths
	// indexes are what was said of git indexes, each in one state of both files.
	indexes map[string]judgedIndex
	// repositories are directories of the user's that were looked at, and whether
	// git takes them for repositories.
	repositories map[string]bool
}

// judgedIndex is what was said of a git index.
type judgedIndex struct {
	after, before filestat.State // the zero value of what is not there
	fault         string
}

// Judge returns what refuses changes in a set that the rules protect from. It is
// for one look at the set: what it has found out about files that programs may
// change it does not find out again.
func Judge(rules paths.Rules, set *changes.Set) changes.Judge {
	j := judgement{rules: rules, set: set, repositories: map[string]bool{}, indexes: map[string]judgedIndex{}}
	if set.Target().Label == labelGit {
		j.prefix = GitPrefix
	}
	return j.of
}

func (j judgement) of(path string, change changes.Change) string {
	if reason, protected := j.rules.Protected(j.prefix+path, kindOf(change)); protected {
		return reason
	}
	if inside, found := j.inRepository(path); found {
		if reason, protected := j.rules.Protected(inside, kindOf(change)); protected {
			return reason
		}
	}
	if path != change.Path { // where a link lands
		return ""
	}
	if index, ofHistory := gitIndexOf(j.prefix + path); ofHistory {
		return j.indexVerdict(strings.TrimPrefix(index, j.prefix))
	}
	return ""
}

// gitIndexOf returns the index that belongs to what of a git directory says which
// commit is checked out, or to the index itself: they are applied together, or
// the one would say that what is protected is gone or another.
func gitIndexOf(path string) (index string, ofHistory bool) {
	if paths.GitIndex(path) {
		return path, true
	}
	dir, rest, found := strings.Cut(path, ".git/")
	top, _, _ := strings.Cut(rest, "/")
	switch top {
	case "HEAD", "refs", "logs", "packed-refs", "reftable":
		return dir + ".git/index", found
	}
	return "", false
}

// indexVerdict is indexFault, which is asked for each path of a history and parses
// what may be long.
func (j judgement) indexVerdict(path string) string {
	now := judgedIndex{after: stateOf(filepath.Join(j.set.Dir(), sandbox.UpperDir), path), before: stateOf(j.set.Target().Path, path)}
	known, found := j.indexes[path]
	if found && known.after == now.after && known.before == now.before {
		return known.fault
	}
	now.fault = j.indexFault(path)
	j.indexes[path] = now
	return now.fault
}

// stateOf returns the state of a file in a directory, which no link leads out of,
// or the zero value of what is not there.
func stateOf(dir, path string) filestat.State {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return filestat.State{}
	}
	defer root.Close()
	info, err := root.Lstat(path)
	if err != nil {
		return filestat.State{}
	}
	return filestat.Of(info)
}

// indexFault says why an index that is held must not become the repository's.
func (j judgement) indexFault(path string) string {
	// The set itself is busy while it is judged.
	after, err := readIndex(filepath.Join(j.set.Dir(), sandbox.UpperDir), path)
	if after == nil && err == nil {
		return "" // it stays as it is
	}
	before, beforeErr := readIndex(j.set.Target().Path, path)
	if err != nil || beforeErr != nil {
		return "cannot be compared with the index of the repository"
	}
	if reason, refused := paths.GitIndexFault(after); refused {
		return reason
	}
	reason, _ := j.rules.GitIndexChange(before, after)
	return reason
}

// readIndex returns the index in a directory, or nil where there is none. What is
// no regular file of a size that can be looked at is empty, which is no index.
func readIndex(dir, path string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(path, os.O_RDONLY|openflag.NonBlock|openflag.NoFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxIndexBytes {
		return []byte{}, err
	}
	return io.ReadAll(io.LimitReader(file, maxIndexBytes))
}

// kindOf is a change as the rules have it.
func kindOf(change changes.Change) paths.Kind {
	switch {
	case change.Kind == changes.Deleted:
		return paths.Deleted
	case change.Mode&fs.ModeSymlink != 0:
		return paths.Link
	case change.Kind == changes.Mode:
		return paths.Mode
	case change.Mode.IsDir():
		return paths.Directory
	case change.Kind == changes.Added:
		return paths.Added
	case change.Kind == changes.Modified:
		return paths.Modified
	}
	return paths.Unknown
}
