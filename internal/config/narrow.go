package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// maxProjectBytes bounds a project's file, in bytes.
const maxProjectBytes = 64 << 10

// narrowing is what a project's file asks for, on its way into a configuration.
type narrowing struct {
	effective *Effective
	given     map[string]Origin // in the project's file
	faults    []Fault
}

func (n *narrowing) refuse(at, format string, args ...any) {
	n.faults = append(n.faults, Fault{n.given[at], at + ": " + fmt.Sprintf(format, args...)})
}

// took notes that a value is the project's.
func (n *narrowing) took(at string) { n.effective.origins[at] = n.given[at] }

// Narrow reads the [ProjectFile] in a project's directory, where there is one,
// and makes the configuration stricter as it says. Its author is not trusted.
//
// A file that would widen anything, or cannot be read and understood as a whole,
// is refused as a whole, and since it cannot be known what it was to forbid, the
// strictest is in force: nothing runs, nothing of the user's files is shown, and
// no change of them is made. The error, which Effective.ProjectError has too,
// says where the fault is, without the directory's path.
func (e *Effective) Narrow(dir string) error {
	source, err := readUntrusted(filepath.Join(dir, ProjectFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		err = &Error{Faults: []Fault{{Origin{Kind: FromProject, Name: ProjectFile}, err.Error()}}}
	} else {
		err = e.narrow(source)
	}
	if err != nil {
		e.restrict(err)
	}
	return err
}

// narrow takes over what a project's file says, or nothing.
func (e *Effective) narrow(source []byte) error {
	var project Config
	r := &reader{kind: FromProject, file: ProjectFile, origins: map[string]Origin{}}
	if err := r.readFile(source, keys(&project)); err != nil {
		return err
	}
	narrowed := *e
	narrowed.Skills, narrowed.origins = maps.Clone(e.Skills), maps.Clone(e.origins)
	n := &narrowing{effective: &narrowed, given: r.origins}
	to := keys(&narrowed.Config)
	to.narrow(n, "", to, keys(&project))
	if len(n.faults) > 0 {
		return &Error{Faults: n.faults[:min(len(n.faults), maxFaults)]}
	}
	narrowed.settle()
	*e = narrowed
	return nil
}

// restrict makes everything as strict as it can be.
func (e *Effective) restrict(err error) {
	e.ProjectError = err
	origin := Origin{Kind: FromProject, Name: ProjectFile}
	if refused, ok := errors.AsType[*Error](err); ok {
		origin = refused.Faults[0].Origin
	}
	e.Sandbox.Backend, e.origins["sandbox.backend"] = Off, origin
	e.Project.Access, e.origins["project.access"] = Off, origin
	e.Project.Shares, e.origins["project.shares"] = nil, origin
	e.Project.Write, e.origins["project.write"] = nil, origin
	e.Approval.Mode, e.origins["approval.mode"] = "deny", origin
	e.Approval.Runs, e.origins["approval.runs"] = "deny", origin
	e.Approval.Network, e.origins["approval.network"] = "deny", origin
	e.Skills = maps.Clone(e.Skills)
	e.settle()
}

// readUntrusted reads a file that anything may have been put in the place of.
// Errors name no path.
func readUntrusted(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file; a link is not followed")
	}
	file, err := os.OpenFile(name, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock|openflag.NoTerminal, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	opened, err := file.Stat()
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case !os.SameFile(info, opened) || !opened.Mode().IsRegular():
		return nil, errors.New("it was replaced while it was read")
	}
	source, err := io.ReadAll(io.LimitReader(file, maxProjectBytes+1))
	if err == nil && len(source) > maxProjectBytes {
		return nil, fmt.Errorf("it is larger than %s", formatSize(maxProjectBytes))
	}
	return source, withoutPath(err)
}

// withoutPath returns what the system said, without the path of the file.
func withoutPath(err error) error {
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err
	}
	return err
}
