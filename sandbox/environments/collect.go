package environments

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// maxPathLength and maxPathDepth bound the paths in an environment.
const (
	maxPathLength = 1024
	maxPathDepth  = 48
)

// collector copies what packages hold, file by file: directories, files with
// their right to be executed, and links that stay within. What it makes belongs
// to this process. Nothing may write to the source meanwhile.
type collector struct {
	from  *os.Root
	bytes int64 // that may still be copied
	files int
	full  error // what there is no place for more with
	// skip, if set, leaves out slash-separated paths in from.
	skip func(name string) bool
}

// copy copies a directory of from to one that is not there yet.
func (c *collector) copy(name, to string) error {
	return c.copyDir(filepath.ToSlash(filepath.Clean(name)), to, 0)
}

func (c *collector) copyDir(name, to string, depth int) error {
	if depth > maxPathDepth || len(name) > maxPathLength {
		return fmt.Errorf("%w: directories more than %d deep", ErrHostile, maxPathDepth)
	}
	if err := c.count(0); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(to, 0o755); err != nil {
		return err
	}
	dir, err := c.from.Open(name)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(c.files + 2)
	if err := errors.Join(ignoreEOF(err), dir.Close()); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := c.copyEntry(path.Join(name, entry.Name()), filepath.Join(to, entry.Name()), entry.Type(), depth); err != nil {
			return err
		}
	}
	return nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (c *collector) copyEntry(name, to string, kind fs.FileMode, depth int) error {
	switch {
	case c.skip != nil && c.skip(name):
		return nil
	case kind.IsDir():
		return c.copyDir(name, to, depth+1)
	case kind.IsRegular():
		return c.copyFile(name, to)
	case kind == fs.ModeSymlink:
		return c.copyLink(name, to, depth)
	}
	return fmt.Errorf("%w: %.200q is neither a file, a directory nor a link", ErrHostile, name)
}

// copyLink copies a link that leads to something within the directory that is
// copied, whatever other links are on the way: each only goes up from where it
// really is.
func (c *collector) copyLink(name, to string, depth int) error {
	if err := c.count(0); err != nil {
		return err
	}
	target, err := c.from.Readlink(name)
	if err != nil {
		return err
	}
	rest, up := target, 0
	for strings.HasPrefix(rest, "../") {
		rest, up = strings.TrimPrefix(rest, "../"), up+1
	}
	if path.IsAbs(target) || target == "" || rest == ".." || up > depth || strings.Contains("/"+rest+"/", "/../") || len(target) > maxPathLength {
		return fmt.Errorf("%w: the link %.200q leads out of the packages", ErrHostile, name)
	}
	return os.Symlink(target, to)
}

func (c *collector) copyFile(name, to string) (err error) {
	file, err := c.from.OpenFile(name, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %.200q is no file", ErrHostile, name)
	}
	if err := c.count(info.Size()); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return writeCopy(to, file, info.Size(), mode)
}

// writeCopy writes so many bytes to a new file.
func writeCopy(to string, from io.Reader, size int64, mode fs.FileMode) error {
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, io.LimitReader(from, size))
	return errors.Join(err, copied.Chmod(mode), copied.Close())
}

// count takes one more file of a size.
func (c *collector) count(size int64) error {
	if c.bytes, c.files = c.bytes-size, c.files-1; c.bytes < 0 || c.files < 0 {
		return c.full
	}
	return nil
}

// replaceLink makes a link, in the place of whatever there is.
func replaceLink(name, target string) error {
	if err := ignoreMissing(os.Remove(name)); err != nil {
		return err
	}
	return os.Symlink(target, name)
}
