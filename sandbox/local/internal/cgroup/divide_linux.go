package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
)

// divideOne divides a cgroup that is this process's to divide: one around its
// own, for which nobody has to move, else its own.
func divideOne(own location) (hierarchy, error) {
	if !listed(own.mount, "cgroup.controllers", "memory") {
		return nil, errors.New("there is no memory controller of version 2, and version 1 takes root")
	}
	around, err := delegated(own)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, dir := range around {
		h, err := divide(dir)
		if err == nil {
			return h, nil
		}
		errs = append(errs, err)
	}
	h, err := divideOwn(own.dir)
	if err == nil {
		return h, nil
	}
	return nil, errors.Join(append(errs, err)...)
}

// delegated lists the cgroups around a process's own that are this user's to
// divide, the nearest first. The error means that not even its own is.
//
// Of systemd's, these are the units that it has delegated. Elsewhere they are
// those that belong to the user, unless that is root: all belong to root, who
// has divided them for a purpose.
func delegated(own location) (around []string, err error) {
	for dir := own.dir; ; dir = filepath.Dir(dir) {
		marked := isMarked(dir)
		if isUnit(dir) && !marked {
			return nil, fmt.Errorf("systemd has not delegated %s", filepath.Base(dir))
		}
		if dir != own.dir && (marked || isOwners(dir)) {
			around = append(around, dir)
		}
		if marked || dir == own.mount || dir == "/" {
			return around, nil
		}
	}
}

// isUnit reports whether a cgroup has the name of a unit of systemd.
func isUnit(dir string) bool {
	return slices.Contains([]string{".service", ".scope", ".slice"}, filepath.Ext(dir))
}

// isMarked reports whether systemd has marked a cgroup as delegated. The first
// mark is for all to see, since systemd 251; the second is for root.
func isMarked(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// isOwners reports whether a cgroup belongs to an ordinary user, who runs this.
func isOwners(dir string) bool {
	var stat unix.Stat_t
	uid := os.Geteuid()
	return uid != 0 && unix.Stat(dir, &stat) == nil && int(stat.Uid) == uid
}

// divide lets the children of a cgroup have controllers. That works where there is
// no process in it, and in the root of the hierarchy.
func divide(dir string) (*unified, error) {
	sweep(dir)
	h := &unified{dir: dir}
	if err := enable(dir, "memory"); err != nil {
		return nil, fmt.Errorf("control memory below %s: %w", dir, err)
	}
	h.pids, h.cpu = enable(dir, "pids") == nil, enable(dir, "cpu") == nil
	if err := h.try(); err != nil {
		return nil, fmt.Errorf("divide %s: %w", dir, err)
	}
	return h, nil
}

// enable lets the children of a cgroup have a controller.
func enable(dir, controller string) error {
	if listed(dir, "cgroup.subtree_control", controller) {
		return nil
	}
	return write(dir, "cgroup.subtree_control", "+"+controller)
}

// listed reports whether a file of words has one.
func listed(dir, name, word string) bool {
	content, _ := os.ReadFile(filepath.Join(dir, name))
	return slices.Contains(strings.Fields(string(content)), word)
}

// divideOwn divides this process's own cgroup. Where it must be empty for
// that, this process moves to a leaf of it, unless others are in it too.
func divideOwn(dir string) (hierarchy, error) {
	if isRoot(dir) {
		return divide(dir)
	}
	if err := isAlone(dir); err != nil {
		return nil, err
	}
	self, leaf := os.Getpid(), filepath.Join(dir, newName())
	if err := os.Mkdir(leaf, 0o755); err != nil {
		return nil, err
	}
	file, err := dirlock.Try(leaf)
	if err != nil {
		return nil, errors.Join(err, os.Remove(leaf))
	}
	undo := func() error {
		undivide(dir, leaf)
		err := errors.Join(place(dir, self), remove(leaf))
		file.Close()
		return err
	}
	if err := place(leaf, self); err != nil {
		return nil, errors.Join(err, undo())
	}
	h, err := divide(dir)
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	h.undo = undo
	return h, nil
}

// undivide takes the controllers from a cgroup's children again, where there
// are no others than this one.
func undivide(dir, only string) {
	children, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, child := range children {
		if child.IsDir() && child.Name() != filepath.Base(only) {
			return
		}
	}
	for _, controller := range []string{"memory", "pids", "cpu"} {
		write(dir, "cgroup.subtree_control", "-"+controller) // no harm where it stays
	}
}

// isRoot reports whether a cgroup is the root of the whole hierarchy, which
// alone has no type.
func isRoot(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "cgroup.type"))
	return errors.Is(err, os.ErrNotExist)
}

// isAlone reports whether this process is the only one in a cgroup.
func isAlone(dir string) error {
	content, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range strings.Fields(string(content)) {
		if pid != strconv.Itoa(os.Getpid()) {
			return fmt.Errorf("others than the server are in %s", dir)
		}
	}
	return nil
}
