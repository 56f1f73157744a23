package resources

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
)

// The limits of a skill whose programs can be run, which are far beyond those
// of one that is published.
const (
	MaxCopyFiles = 50_000 // directories and links included
	MaxCopyBytes = 1 << 30
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
func takeInventory(ctx context.Context, tree *Tree) (inventory, error) {
	_, passed, err := tree.enter(".")
	if err != nil {
		return nil, err
	}
	var found inventory
	var claimed int64
	w := walk{tree: tree, keep: maxScanned, running: true}
	w.visit = func(clean string, info fs.FileInfo) error {
		next := item{path: clean, info: info}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if next.target, err = tree.root.Readlink(clean); err != nil {
				return nil // it was swapped just now, as the next look tells
			}
		case !info.IsDir():
			claimed += info.Size()
		}
		found = append(found, next)
		if err := withinCopy(len(found), claimed); err != nil {
			return err
		}
		return ctx.Err()
	}
	if err := w.in(".", maxPathSegments, passed); err != nil {
		return nil, err
	}
	if w.more {
		return nil, withinCopy(MaxCopyFiles+1, 0)
	}
	slices.SortFunc(found, func(a, b item) int { return cmp.Compare(a.path, b.path) })
	return found, nil
}

// withinCopy refuses a skill that is too large for its programs to be run.
func withinCopy(files int, bytes int64) error {
	beyond := ""
	switch {
	case files > MaxCopyFiles:
		beyond = fmt.Sprintf("%d files", MaxCopyFiles)
	case bytes > MaxCopyBytes:
		beyond = fmt.Sprintf("%d bytes", MaxCopyBytes)
	default:
		return nil
	}
	return &Error{Rule: TooLarge, Path: ".",
		Message: "the skill has more than " + beyond + ", so its programs cannot be run",
		Hint:    "Tell the user: what the skill does not need has to be moved out of its directory."}
}

// stamps stands for the state of all files, directories and links: it changes
// when any of them does. proof tells that all were last changed long enough
// before then for no later change to go unseen, see [Digests]; the time of the
// last write, which anybody can set, does not matter for that.
func (found inventory) stamps(then time.Time) (sum [sha256.Size]byte, proof bool) {
	var all []byte
	edge := then.Add(-settled).UnixNano()
	proof = true
	for _, it := range found {
		// No path and no link holds a NUL.
		all = append(append(append(append(all, it.path...), 0), it.target...), 0)
		var state [6]uint64
		if !it.info.IsDir() { // whose times tell of droppings too
			id, now, ok := identify(it.info)
			if !ok {
				now.size, now.modified = it.info.Size(), it.info.ModTime().UnixNano()
			}
			proof = proof && ok && now.changed <= edge
			state = [...]uint64{
				id.device, id.number, uint64(it.info.Mode()), uint64(now.size), uint64(now.modified), uint64(now.changed),
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

func (c *contents) link(path, target string) {
	var b strings.Builder
	encode(&b, target, isPathChar)
	c.add("l", b.String(), path)
}

// add ends each field by a space, which no field holds.
func (c *contents) add(kind, what, path string) {
	var b strings.Builder
	encode(&b, path, isPathChar)
	c.lines = append(c.lines, b.String()+" "+kind+" "+what)
}

// digest hashes the lines in byte order.
func (c *contents) digest() string {
	slices.Sort(c.lines)
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(c.lines, "\n"))))
}
