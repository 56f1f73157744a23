package staging

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/percent"
)

// The modes of what is copied: everybody may read it, as the programs of a
// server that is root are other users, and none may write it. The directory
// around all copies keeps other users out.
const (
	copiedMode     = 0o444
	executableMode = 0o555
)

// copying copies one skill into a new directory.
type copying struct {
	ctx   context.Context
	from  *contained.Dir
	to    *os.Root
	bytes int64
	// lines have each directory, file and link that was copied.
	lines []string
	// leftOut are files that could not be read, and links that lead to what
	// was not copied.
	leftOut []string
}

// all copies what was found. Links come last: nothing is written through one.
func (c *copying) all(found inventory) error {
	for _, it := range found {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		var err error
		switch {
		case it.isLink():
		case it.info.IsDir():
			c.copied(it.path, "d", "")
			err = c.to.Mkdir(it.path, 0o700)
		default:
			err = c.file(it.path)
		}
		if err != nil {
			return err
		}
	}
	c.links(found)
	return c.seal(found)
}

// copied notes what a copy holds. A space ends each field, which holds none.
func (c *copying) copied(path, kind, what string) {
	c.lines = append(c.lines, percent.Path(path)+" "+kind+" "+what)
}

// digest hashes the lines in byte order.
func (c *copying) digest() string {
	slices.Sort(c.lines)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(c.lines, "\n"))))
}

// file copies a regular file, or leaves out one that may not be read.
func (c *copying) file(path string) error {
	out, err := c.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	// One byte over the limit shows that it is over.
	info, size, err := c.from.Copy(io.MultiWriter(hash, out), path, maxBytes-c.bytes+1)
	kind, mode := "f", fs.FileMode(copiedMode)
	if err == nil && info.Mode().Perm()&0o111 != 0 {
		kind, mode = "x", executableMode
	}
	if err == nil {
		err = out.Chmod(mode)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return c.leaveOut(path, err)
	}
	c.bytes += size
	c.copied(path, kind, fmt.Sprintf("%x", hash.Sum(nil)))
	return withinLimits(0, c.bytes)
}

// leaveOut passes over what the system does not let the server read. What is
// gone or something else by now was swapped, as the next look shows.
func (c *copying) leaveOut(path string, err error) error {
	if refused, ok := errors.AsType[*contained.Error](err); ok && refused.Rule != contained.Unreadable {
		c.leftOut = append(c.leftOut, path)
		return c.to.Remove(path)
	}
	return err
}

// links makes the links as they stood, and takes those away again that lead to
// nothing that was copied: out of the skill, or nowhere.
func (c *copying) links(found inventory) {
	var made, bad []item
	for _, it := range found {
		if !it.isLink() {
			continue
		}
		if err := c.to.Symlink(it.target, it.path); err != nil {
			c.leftOut = append(c.leftOut, it.path) // as on Windows without the privilege
			continue
		}
		made = append(made, it)
	}
	for _, link := range made {
		if _, err := c.to.Stat(link.path); err != nil {
			bad = append(bad, link)
			continue
		}
		c.copied(link.path, "l", percent.Path(link.target))
	}
	for _, link := range bad {
		c.leftOut = append(c.leftOut, link.path)
		_ = c.to.Remove(link.path) // in a directory that is ours
	}
}

// seal takes the right to write away, also from the server itself. Windows
// would hide the directories by that.
func (c *copying) seal(found inventory) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, it := range found {
		if it.info.IsDir() {
			if err := c.to.Chmod(it.path, executableMode); err != nil {
				return err
			}
		}
	}
	return c.to.Chmod(".", executableMode)
}
