package staging

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// glance is what a directory and all below it were at some time, told by one look
// at each name. Where it still is so, nothing was added, removed or changed: the
// time at which the system changed a directory tells of its names.
type glance struct {
	dir   string
	paths []string
	sum   [sha256.Size]byte
}

// glanceOf returns the glance at a directory of which an inventory was taken after
// its own state, both after a time; nil where a change could go unseen.
func glanceOf(dir string, own fs.FileInfo, found inventory, then time.Time) *glance {
	g := &glance{dir: dir, paths: make([]string, len(found))}
	edge := then.Add(-filestat.SettleTime).UnixNano()
	all, settled := appendState(nil, own, edge)
	for i, it := range found {
		g.paths[i] = it.path
		var known bool
		all, known = appendState(all, it.info, edge)
		settled = settled && known
	}
	if !settled {
		return nil
	}
	g.sum = sha256.Sum256(all)
	return g
}

// appendState appends a state, and reports whether it was the same since an edge.
func appendState(all []byte, info fs.FileInfo, edge int64) ([]byte, bool) {
	now := filestat.Of(info)
	for _, value := range [...]uint64{now.Device, now.Inode, uint64(info.Mode()), uint64(now.Size), uint64(now.Changed)} {
		all = binary.LittleEndian.AppendUint64(all, value)
	}
	return all, now.Known() && now.Changed <= edge
}

// holds reports whether all is as it was. It need not go through the directories
// safely: whatever it comes by, only what has the same state passes.
func (g *glance) holds() bool {
	if g == nil {
		return false
	}
	own, err := os.Stat(g.dir)
	if err != nil {
		return false
	}
	const anyTime = 1<<63 - 1
	all, _ := appendState(nil, own, anyTime)
	for _, path := range g.paths {
		info, err := os.Lstat(filepath.Join(g.dir, path))
		if err != nil {
			return false
		}
		all, _ = appendState(all, info, anyTime)
	}
	return sha256.Sum256(all) == g.sum
}
