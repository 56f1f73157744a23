package catalog

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
)

// maxWaySteps bounds the entries that a way leads over, which links can make
// endless.
const maxWaySteps = 256

// watchWay watches the entries over which the way leads from a directory to a
// target, as far as there is one. What happens to one is told of path.
func (w *walker) watchWay(from, target, path string) (ways []watch.Way) {
	if w.watcher == nil {
		return nil
	}
	dir, rest := from, target
	if filepath.IsAbs(target) {
		dir, rest = top(target)
	}
	for more := true; more && len(ways) < maxWaySteps; {
		var name string
		name, rest, more = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(dir, name)
		if name == "" || name == "." || name == ".." {
			dir = next
			continue
		}
		info, err := os.Lstat(next)
		ways = append(ways, w.watcher.AddWay(dir, name, err != nil || info.Mode().IsRegular(), path))
		// It may be another since it was looked at.
		if link, err := os.Readlink(next); err == nil {
			more, rest = true, link+string(filepath.Separator)+rest
			if filepath.IsAbs(link) {
				dir, rest = top(rest)
			}
		} else if _, err := os.Lstat(next); err != nil {
			return ways
		} else {
			dir = next
		}
	}
	return ways
}

// top cuts an absolute path behind what it begins with.
func top(path string) (root, rest string) {
	root = filepath.VolumeName(path) + string(filepath.Separator)
	return root, strings.TrimPrefix(path[len(root)-1:], string(filepath.Separator))
}
