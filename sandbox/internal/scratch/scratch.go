// Package scratch keeps what belongs to a workspace and is not for all programs
// there, sandbox.Spec.Private: a directory with HOME and TMPDIR for each owner,
// which the owner's programs can write, and one of saved output, which none can.
package scratch

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

// The directories of a program in that of its owner.
const (
	Home = "home"
	Tmp  = "tmp"
)

// ownerPrefix begins the name of an owner's directory.
const ownerPrefix = "of-"

// key is what programs cannot know of the names of owners' directories. Where
// they see the server's own file system, a path is all that it takes to look up
// a file and to change its mode.
var key = sync.OnceValue(rand.Text) // not at once: a supervisor starts before

// Owned returns the host directory of a spec's owner, which has another name in
// another private directory and in another process.
func Owned(spec sandbox.Spec) string {
	name := hmac.New(sha256.New, []byte(key()))
	name.Write([]byte(spec.Private + "\x00" + spec.Owner))
	return filepath.Join(spec.Private, ownerPrefix+hex.EncodeToString(name.Sum(nil)[:16]))
}

// Dir is where output is saved.
type Dir struct{ root *os.Root }

// Open makes the directories of a spec's owner where they are not there or are
// something else. Errors are of type [sandbox.SetupError].
func Open(spec sandbox.Spec) (*Dir, error) {
	saved := filepath.Join(spec.Private, sandbox.SavedDir)
	if err := errors.Join(makeOwned(spec), makeDir(saved)); err != nil {
		return nil, unusable(err)
	}
	root, err := os.OpenRoot(saved)
	if err != nil {
		return nil, unusable(err)
	}
	return &Dir{root: root}, nil
}

// makeDir makes a directory where no program can.
func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// RestoreModes restores the modes that a program took away from the directories
// of a spec's owner, and from those above, which are in reach of programs with the
// server's user and file system. It reports whether there was one.
func RestoreModes(spec sandbox.Spec) (restored bool, err error) {
	dir := Owned(spec)
	for _, name := range []string{spec.Private, filepath.Join(spec.Private, sandbox.SavedDir), dir} {
		this, modeErr := disk.RestoreMode(name)
		restored, err = restored || this, errors.Join(err, modeErr)
	}
	root, openErr := os.OpenRoot(dir)
	if openErr != nil {
		return restored, errors.Join(err, openErr)
	}
	defer root.Close()
	for _, name := range []string{Home, Tmp} {
		if info, lstatErr := root.Lstat(name); lstatErr == nil && info.IsDir() && info.Mode()&0o700 != 0o700 {
			restored, err = true, errors.Join(err, root.Chmod(name, info.Mode().Perm()|0o700))
		}
	}
	return restored, err
}

// makeOwned makes the directories of a spec's owner. What is in the first was
// made by programs, which may still run: no path leads out of it.
func makeOwned(spec sandbox.Spec) error {
	dir := Owned(spec)
	if err := makeDir(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return errors.Join(makeWithin(root, Home), makeWithin(root, Tmp))
}

// makeWithin makes sure that name is a directory and no link to one.
func makeWithin(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = root.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = root.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) { // another run of this owner was faster
		if info, lstatErr := root.Lstat(name); lstatErr == nil && info.IsDir() {
			return nil
		}
	}
	return err
}

func unusable(err error) error {
	return &sandbox.SetupError{
		Rule:    "workspace-unusable",
		Message: "the workspace cannot be prepared for a run",
		Hint:    "Use a new workspace.",
		Err:     err,
	}
}

// Retire takes away from a private directory what is of no program that runs:
// saved output, and what owners have whose directories are not in use. It
// returns what is to be removed.
func Retire(private string, inUse func(dir string) bool) (retired []string) {
	for _, dir := range entries(private) {
		base := filepath.Base(dir)
		if base == sandbox.SavedDir || strings.HasPrefix(base, ownerPrefix) && inUse(dir) {
			continue
		}
		if away := filepath.Join(private, "retired-"+rand.Text()); os.Rename(dir, away) == nil {
			retired = append(retired, away)
		}
	}
	return append(retired, entries(filepath.Join(private, sandbox.SavedDir))...)
}

// entries returns the paths of what could be read of a directory.
func entries(dir string) (paths []string) {
	list, _ := os.ReadDir(dir)
	for _, entry := range list {
		paths = append(paths, filepath.Join(dir, entry.Name()))
	}
	return paths
}

// Create makes a new file with a name of its own that starts with prefix.
func (d *Dir) Create(prefix string) (file *os.File, name string, err error) {
	name = prefix + "-" + rand.Text() + ".log"
	file, err = d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return file, name, err
}

// Close releases the directory; what is in it stays.
func (d *Dir) Close() error { return d.root.Close() }
