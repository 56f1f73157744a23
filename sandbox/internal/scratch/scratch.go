// Package scratch keeps the part of a workspace that belongs to the sandbox
// itself, sandbox.PrivateDir. Programs can write there too, and earlier runs
// may have left anything in it: nothing in it is trusted, and every path is
// resolved inside the workspace.
package scratch

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// The directories of a program's HOME and TMPDIR, relative to the workspace.
const (
	Home = sandbox.PrivateDir + "/home"
	Tmp  = sandbox.PrivateDir + "/tmp"
)

// Dir is the private directory of one workspace during one run.
type Dir struct{ root *os.Root }

// Open makes the private directory and those below it where they are not yet
// there, or are something else. Errors are of type [sandbox.SetupError].
func Open(workspace string) (*Dir, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, &sandbox.SetupError{
			Rule:    "workspace-missing",
			Message: "the workspace is not there or cannot be opened",
			Hint:    "Use a new workspace.",
			Err:     err,
		}
	}
	defer root.Close()
	for _, name := range []string{sandbox.PrivateDir, Home, Tmp} {
		if err := makeDir(root, name); err != nil {
			return nil, unusable(err)
		}
	}
	private, err := root.OpenRoot(sandbox.PrivateDir)
	if err != nil {
		return nil, unusable(err)
	}
	return &Dir{root: private}, nil
}

// makeDir makes sure that name is a directory and no link to one.
func makeDir(root *os.Root, name string) error {
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
	if errors.Is(err, fs.ErrExist) { // another run in this workspace was faster
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

// Create makes a new file with a name of its own that starts with prefix. It
// gives its path relative to the workspace.
func (d *Dir) Create(prefix string) (*os.File, string, error) {
	name := prefix + "-" + rand.Text() + ".log"
	file, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, "", err
	}
	return file, path.Join(sandbox.PrivateDir, name), nil
}

// Close releases the directory; what is in it stays.
func (d *Dir) Close() error { return d.root.Close() }
