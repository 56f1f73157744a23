package calling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server"
)

// Artifacts are the files that a call has made in a workspace, which ends with it.
type Artifacts struct {
	Workspace string
	Artifacts []struct{ Filename string }
	Omitted   int `json:"artifactsOmitted"`
}

// ArtifactsOf returns those that an answer lists.
func ArtifactsOf(called server.Called) (files Artifacts) {
	if called.Structured != nil {
		_ = json.Unmarshal(called.Structured, &files) // of a tool that makes none, it has none
	}
	return files
}

// Keep copies the files to a directory, in which it overwrites nothing, and returns
// lines that say so. Their names and contents are a program's.
func (files Artifacts) Keep(store *workspaces.Store, to string) (text string, err error) {
	if len(files.Artifacts) == 0 {
		return "", nil
	}
	ws, err := store.Get(files.Workspace)
	if err != nil {
		return "", err
	}
	from, err := contained.Open(ws.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return "", err
	}
	defer from.Close()
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, file := range files.Artifacts {
		if err := copyOut(from, root, file.Filename); err != nil {
			return text, fmt.Errorf("keep %s: %w", terminal.Printable(file.Filename), err)
		}
		text += "kept: " + terminal.Printable(filepath.Join(to, filepath.FromSlash(file.Filename))) + "\n"
	}
	if files.Omitted > 0 {
		text += fmt.Sprintf("not kept: %d more, which the answer does not list\n", files.Omitted)
	}
	return text, nil
}

// copyOut copies one file. What cannot be copied as a whole is not there.
func copyOut(from *contained.Dir, to *os.Root, name string) error {
	if err := to.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return errors.New("there is such a file already: give --out a directory that is empty or new")
	}
	if err != nil {
		return err
	}
	_, _, err = from.Copy(file, name, maxKeptBytes)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, to.Remove(name))
	}
	return nil
}

// maxKeptBytes bounds a file that is kept.
const maxKeptBytes = 1 << 40
