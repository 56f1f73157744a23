package staging

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// The modes of what is copied: everybody may read it, as the programs of a
// server that is root are other users, and nobody may write it. The directory
// around all copies keeps other users out.
const (
	copiedMode     = 0o444
	executableMode = 0o555
)

// copying copies one skill into a new directory.
type copying struct {
	ctx      context.Context
	from     *contained.Dir
	to       *os.Root
	contents contents
	bytes    int64
	// leftOut are files that could not be read, and links that lead to what
	// was not copied.
	leftOut []string
}

// all copies what was found. Links come last: nothing is written through one.
func (c *copying) all(found inventory) error {
	var links inventory
	for _, it := range found {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		var err error
		switch {
		case it.info.Mode()&fs.ModeSymlink != 0:
			links = append(links, it)
		case it.info.IsDir():
			c.contents.directory(it.path)
			err = c.to.Mkdir(it.path, 0o700)
		default:
			err = c.file(it.path)
		}
		if err != nil {
			return err
		}
	}
	c.links(links)
	return c.seal(found)
}

// file copies a regular file, or leaves out one that may not be read.
func (c *copying) file(path string) error {
	out, err := c.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	// One byte over the limit tells that it is over.
	info, size, err := c.from.Copy(io.MultiWriter(hash, out), path, maxBytes-c.bytes+1)
	mode := fs.FileMode(copiedMode)
	executable := info != nil && info.Mode().Perm()&0o111 != 0
	if executable {
		mode = executableMode
	}
	if err == nil {
		err = out.Chmod(mode)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return c.leaveOut(path, err)
	}
	c.bytes += size
	c.contents.file(path, hash.Sum(nil), executable)
	return withinCopy(0, c.bytes)
}

// leaveOut passes over what the system does not let the server read. What is
// gone or something else by now was swapped, as the next look tells.
func (c *copying) leaveOut(path string, err error) error {
	var refused *contained.Error
	if errors.As(err, &refused) && refused.Rule != contained.Unreadable {
		c.leftOut = append(c.leftOut, path)
		return c.to.Remove(path)
	}
	return err
}

// links makes the links as they stood, and takes those away again that lead to
// nothing that was copied: out of the skill, or nowhere.
func (c *copying) links(all inventory) {
	made := make(inventory, 0, len(all))
	for _, link := range all {
		if err := c.to.Symlink(link.target, link.path); err != nil {
			c.leftOut = append(c.leftOut, link.path) // as on Windows without the privilege
			continue
		}
		made = append(made, link)
	}
	var bad []string
	for _, link := range made {
		if _, err := c.to.Stat(link.path); err != nil {
			bad = append(bad, link.path)
			continue
		}
		c.contents.link(link.path, link.target)
	}
	for _, path := range bad {
		c.leftOut = append(c.leftOut, path)
		_ = c.to.Remove(path) // in a directory that is ours
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

// stampsOf looks at a finished copy.
func stampsOf(ctx context.Context, dir string) (sum [sha256.Size]byte, err error) {
	tree, err := open(dir)
	if err != nil {
		return sum, err
	}
	defer tree.Close()
	found, err := takeInventory(ctx, tree)
	sum, _ = found.stamps(time.Now())
	return sum, err
}

// open opens a directory for its programs.
func open(dir string) (*contained.Dir, error) {
	return contained.Open(dir, contained.Options{Runnable: true})
}
