package staging

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/resources/contained"
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

func (it item) isLink() bool { return it.info.Mode()&fs.ModeSymlink != 0 }

// takeInventory looks at a directory without reading any file. Errors are
// [*contained.Error] or the context's.
func takeInventory(ctx context.Context, dir *contained.Dir) (inventory, error) {
	var found inventory
	var claimed int64
	more, err := dir.Walk(func(clean string, info fs.FileInfo) (err error) {
		next := item{path: clean, info: info}
		if next.isLink() {
			if next.target, err = dir.Readlink(clean); err != nil {
				return nil // it was swapped just now, as the next look shows
			}
		} else if !info.IsDir() {
			claimed += info.Size()
		}
		found = append(found, next)
		if err := withinLimits(len(found), claimed); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err == nil && more {
		err = withinLimits(maxFiles+1, 0)
	}
	slices.SortFunc(found, func(a, b item) int { return cmp.Compare(a.path, b.path) })
	return found, err
}

// bytes is how large the files are together.
func (found inventory) bytes() (sum int64) {
	for _, it := range found {
		if it.info.Mode().IsRegular() {
			sum += it.info.Size()
		}
	}
	return sum
}

// withinLimits refuses a skill that is too large for its programs to be run.
func withinLimits(files int, bytes int64) error {
	beyond := ""
	switch {
	case files > maxFiles:
		beyond = fmt.Sprintf("%d files", maxFiles)
	case bytes > maxBytes:
		beyond = fmt.Sprintf("%d bytes", maxBytes)
	default:
		return nil
	}
	return &contained.Error{Rule: contained.TooLarge,
		Message: "the skill has more than " + beyond + ", so its programs cannot be run",
		Hint:    "Tell the user: what the skill does not need has to be moved out of its directory."}
}

// state stands for the states of all files, directories and links: it changes
// when any of them does. proof is set where all were last changed long enough
// before then for no later change to go unseen; the time of the last write,
// which anybody can set, does not matter for that.
func (found inventory) state(then time.Time) (sum [sha256.Size]byte, proof bool) {
	var all []byte
	edge := then.Add(-filestat.SettleTime).UnixNano()
	proof = true
	for _, it := range found {
		// No path and no link holds a NUL.
		all = append(append(append(append(all, it.path...), 0), it.target...), 0)
		var state [6]uint64
		if !it.info.IsDir() { // whose times change with ignored files too
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
