package project

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// item is one file of the mask: a directory that leads to others, a whiteout, or
// a replaced file, as its mode says.
type item struct {
	path     string
	mode     uint32 // unix.S_IFDIR, S_IFREG or S_IFCHR, and permissions
	uid, gid uint32
	mtime    int64 // nanoseconds since 1970
	content  string
}

// plan returns what is masked and the files of the mask, directories before
// what is in them.
func (v *View) plan(top *os.File) (masked []Masked, plan []item) {
	used := map[string]config{}
	for _, n := range v.tree.nodes {
		if n.closed != "" {
			masked = append(masked, Masked{Path: n.path, Reason: n.closed})
			plan = append(plan, item{path: n.path, mode: unix.S_IFCHR})
		}
		for _, m := range n.masks {
			at := path.Join(n.path, m.name)
			it := item{path: at, mode: unix.S_IFCHR}
			reason, replaced := m.reason, false
			if m.config {
				if it, reason = v.configs.item(top, at, used); reason == "" {
					continue
				}
				replaced = it.mode&unix.S_IFMT == unix.S_IFREG
			}
			masked = append(masked, Masked{Path: at, Reason: reason, Replaced: replaced})
			plan = append(plan, it)
		}
	}
	v.configs.files = used
	plan = append(plan, v.tree.above(plan)...)
	slices.SortFunc(plan, func(a, b item) int { return comparePaths(a.path, b.path) })
	slices.SortFunc(masked, func(a, b Masked) int { return comparePaths(a.Path, b.Path) })
	return masked, plan
}

// comparePaths puts directories before what is in them.
func comparePaths(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == ".":
		return -1
	case b == ".":
		return 1
	}
	return strings.Compare(a, b)
}

// above returns the directories that lead to items.
func (t *tree) above(items []item) (dirs []item) {
	seen := map[string]bool{}
	for _, it := range items {
		for at := it.path; at != "."; {
			at = path.Dir(at)
			if seen[at] {
				break
			}
			seen[at] = true
			s := t.nodes[at].stamp
			dirs = append(dirs, item{path: at, mode: s.mode, uid: s.uid, gid: s.gid, mtime: s.mtime})
		}
	}
	return dirs
}

// writeMask makes a mask in a directory that is not there.
func writeMask(dir string, plan []item) error {
	for _, it := range plan {
		name := filepath.Join(dir, it.path)
		var err error
		switch it.mode & unix.S_IFMT {
		case unix.S_IFDIR:
			err = os.Mkdir(name, 0o700)
		case unix.S_IFCHR:
			if err = unix.Mknod(name, unix.S_IFCHR, 0); err != nil {
				err = &os.PathError{Op: "mknod", Path: name, Err: err}
			}
		default:
			err = os.WriteFile(name, []byte(it.content), 0o600)
		}
		if err != nil {
			return err
		}
	}
	for _, it := range slices.Backward(plan) { // what a directory holds before itself
		if it.mode&unix.S_IFMT == unix.S_IFCHR {
			continue
		}
		if err := it.dress(filepath.Join(dir, it.path)); err != nil {
			return err
		}
	}
	return nil
}

// dress gives a file of the mask the owner, mode and time of the user's. Only
// root can give files away.
func (it item) dress(name string) error {
	if err := os.Lchown(name, int(it.uid), int(it.gid)); err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	if err := unix.Chmod(name, it.mode&0o7777); err != nil {
		return &os.PathError{Op: "chmod", Path: name, Err: err}
	}
	return os.Chtimes(name, time.Time{}, time.Unix(0, it.mtime))
}
