package staging

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/percent"
)

// The limits of a skill whose programs can be run, which are far beyond those
// of one that is published.
const (
	maxFiles = 50_000 // directories and links included
	maxBytes = 1 << 30
)

// inventory is what programs of a skill need of its directory, sorted by path.
type inventory []item

// item is a directory, a regular file or a link as it was found.
type item struct {
	path string
	info fs.FileInfo
	// target is what a link says.
	target string
}

// takeInventory looks at a tree without reading any file. Errors are [*Error]
// or the context's.
func takeInventory(ctx context.Context, tree *contained.Dir) (inventory, error) {
	var found inventory
	var claimed int64
	more, err := tree.Walk(func(clean string, info fs.FileInfo) error {
		next := item{path: clean, info: info}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := tree.Readlink(clean)
			if err != nil {
				return nil // it was swapped just now, as the next look tells
			}
			next.target = target
		case !info.IsDir():
			claimed += info.Size()
		}
		found = append(found, next)
		if err := withinCopy(len(found), claimed); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err == nil && more {
		err = withinCopy(maxFiles+1, 0)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b item) int { return cmp.Compare(a.path, b.path) })
	return found, nil
}

// withinCopy refuses a skill that is too large for its programs to be run.
func withinCopy(files int, bytes int64) error {
	beyond := ""
	switch {
	case files > maxFiles:
		beyond = fmt.Sprintf("%d files", maxFiles)
	case bytes > maxBytes:
		beyond = fmt.Sprintf("%d bytes", maxBytes)
	default:
		return nil
	}
	return &contained.Error{Rule: contained.TooLarge, Path: ".",
		Message: "the skill has more than " + beyond + ", so its programs cannot be run",
		Hint:    "Tell the user: what the skill does not need has to be moved out of its directory."}
}

// stamps stands for the state of all files, directories and links: it changes
// when any of them does. proof tells that all were last changed long enough
// before then for no later change to go unseen, see [filestat.State.Settled]; the time of the
// last write, which anybody can set, does not matter for that.
func (found inventory) stamps(then time.Time) (sum [sha256.Size]byte, proof bool) {
	var all []byte
	edge := then.Add(-filestat.SettleTime).UnixNano()
	proof = true
	for _, it := range found {
		// No path and no link holds a NUL.
		all = append(append(append(append(all, it.path...), 0), it.target...), 0)
		var state [6]uint64
		if !it.info.IsDir() { // whose times tell of ignored files too
			now := filestat.Of(it.info)
			proof = proof && now.Known() && now.Changed <= edge
			state = [...]uint64{
				now.Device, now.Inode, uint64(it.info.Mode()), uint64(now.Size), uint64(now.Modified), uint64(now.Changed),
			}
		}
		for _, value := range state {
			all = binary.LittleEndian.AppendUint64(all, value)
		}
	}
	return sha256.Sum256(all), proof
}

// contents is what a copy holds: a line for each directory, file and link.
type contents struct{ lines []string }

func (c *contents) directory(path string) { c.add("d", "", path) }

// file adds a regular file with the digest of its bytes.
func (c *contents) file(path string, sum []byte, executable bool) {
	kind := "f"
	if executable {
		kind = "x"
	}
	c.add(kind, fmt.Sprintf("%x", sum), path)
}

func (c *contents) link(path, target string) { c.add("l", percent.Path(target), path) }

// add ends each field by a space, which no field holds.
func (c *contents) add(kind, what, path string) {
	c.lines = append(c.lines, percent.Path(path)+" "+kind+" "+what)
}

// digest hashes the lines in byte order.
func (c *contents) digest() string {
	slices.Sort(c.lines)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(c.lines, "\n"))))
}
