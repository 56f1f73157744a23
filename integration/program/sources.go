package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// lookedAtSources looks once at everything that decides what the server and
// its clients do: the directories that it is built from, the versions of what
// it depends on, the samples that it serves, and the programs for Node.js,
// Python and the Go SDK of the package under test. What a process looks at while its tests
// run decides whether go test may repeat their last result; what the build and
// other processes read, go test does not see.
var lookedAtSources = sync.OnceValue(func() error {
	sources, err := sourceDirs()
	if err != nil {
		return err
	}
	root := sources[0]
	for _, dir := range sources[1:] {
		// A directory's entries count with their sizes and times.
		if _, err := os.ReadDir(dir); err != nil {
			return err
		}
	}
	for _, dir := range []string{"node", "python", "gosdk"} {
		if _, err := os.ReadDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return filepath.WalkDir(filepath.Join(root, "testdata", "skills"), func(_ string, _ fs.DirEntry, err error) error { return err })
})

// sourceDirs returns the module's root and then the directories of its
// packages that the server is built from, absolute paths.
func sourceDirs() ([]string, error) {
	list := exec.Command("go", "list", "-deps", "-f",
		`{{with .Module}}{{if .Main}}{{.Dir}}{{"\n"}}{{$.Dir}}{{end}}{{end}}`, command)
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			out = exit.Stderr
		}
		return nil, fmt.Errorf("%v: %w\n%s", list.Args, err, out)
	}
	dirs := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\r' || r == '\n' })
	slices.Sort(dirs) // the root comes first, since all others lie below it
	if dirs = slices.Compact(dirs); len(dirs) < 2 {
		return nil, fmt.Errorf("%v names no sources of the server: %q", list.Args, dirs)
	}
	return dirs, nil
}
