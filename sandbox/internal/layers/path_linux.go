package layers

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// maxLinks is how many symbolic links a path may lead through.
	maxLinks = 40
	// maxSteps is how many names may be looked up for one path.
	maxSteps = 1000
)

// walker finds what paths lead to in what programs see of a share. Links are
// followed here and not by the kernel, name by name, through what the layers
// hold together: none leads out of the share.
type walker struct {
	path  string // of the share
	top   stack
	owner owner

	at    []string // names of the directory that was reached
	dirs  []stack  // the directories on the way to it, without the top
	links int
	steps int
}

// reached is what a path leads to.
type reached struct {
	// path is clean and goes through no link.
	path []string
	// in is the directory of the last name, or the directory itself that was
	// reached.
	in stack
	// layer is the first that has the name, and stat what it is there; -1 where
	// there is nothing: then stat is that of the last directory that is there.
	layer int
	stat  unix.Stat_t
}

func (r reached) isDir() bool { return r.layer >= 0 && r.stat.Mode&unix.S_IFMT == unix.S_IFDIR }

func openWalker(share sandbox.Share) (*walker, error) {
	upper := ""
	if share.Access == sandbox.AccessReview {
		upper = upperOf(share)
	}
	top, err := openStack(upper, share.Layers)
	if upper != "" && errors.Is(err, fs.ErrNotExist) { // nothing was changed yet
		top, err = openStack("", share.Layers)
	}
	if err != nil {
		return nil, err
	}
	w := &walker{path: share.Path, top: top}
	stat, err := top[len(top)-1].self()
	if err != nil {
		top.close()
		return nil, err
	}
	w.owner = owner{stat.Uid, stat.Gid}
	return w, nil
}

func (w *walker) close() {
	w.back(0)
	w.top.close()
}

// dir is the directory that was reached.
func (w *walker) dir() stack {
	if len(w.dirs) == 0 {
		return w.top
	}
	return w.dirs[len(w.dirs)-1]
}

// back goes back to the directory of so many names.
func (w *walker) back(names int) {
	for _, d := range w.dirs[names:] {
		d.close()
	}
	w.dirs, w.at = w.dirs[:names], w.at[:names]
}

// walk follows a path from the directory that was reached. What it returns is
// good until the next walk.
func (w *walker) walk(path string) (reached, error) {
	names := strings.Split(path, "/")
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if w.steps++; w.steps > maxSteps {
			return reached{}, unix.ELOOP
		}
		switch name {
		case "", ".":
			continue
		case "..":
			if len(w.dirs) == 0 {
				return reached{}, ErrOutside
			}
			w.back(len(w.dirs) - 1)
			continue
		}
		layers, stat, err := w.dir().lookup(name)
		switch {
		case err != nil:
			return reached{}, err
		case layers == nil:
			return w.nothing(name, names)
		case stat.Mode&unix.S_IFMT == unix.S_IFLNK:
			if names, err = w.follow(layers[0], name, names); err != nil {
				return reached{}, err
			}
		case stat.Mode&unix.S_IFMT == unix.S_IFDIR:
			if err := w.enter(name, layers, &stat); err != nil {
				return reached{}, err
			}
		case slices.ContainsFunc(names, func(name string) bool { return name != "" }):
			return reached{}, unix.ENOTDIR
		default:
			return reached{path: append(slices.Clone(w.at), name), in: w.dir(), layer: layers[0], stat: stat}, nil
		}
	}
	stat, err := w.dir().self()
	return reached{path: slices.Clone(w.at), in: w.dir(), stat: stat}, err
}

// nothing is what a path leads to of which the rest is not there.
func (w *walker) nothing(name string, rest []string) (reached, error) {
	path := append(slices.Clone(w.at), name)
	for _, name := range rest {
		switch name {
		case "", ".":
		case "..":
			return reached{}, unix.ENOENT
		default:
			path = append(path, name)
		}
	}
	stat, err := w.dir().self()
	return reached{path: path, in: w.dir(), layer: -1, stat: stat}, err
}

// follow returns the names that a link and the rest of the path lead through.
func (w *walker) follow(layer int, name string, rest []string) ([]string, error) {
	if w.links++; w.links > maxLinks {
		return nil, unix.ELOOP
	}
	target, err := w.dir()[layer].link(name)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(target, "/") {
		if !pathname.Within(target, w.path) {
			return nil, ErrOutside
		}
		w.back(0)
		target = strings.TrimPrefix(target, w.path)
	}
	return append(strings.Split(target, "/"), rest...), nil
}

// enter goes into a directory of the one that was reached.
func (w *walker) enter(name string, layers []int, stat *unix.Stat_t) error {
	if !w.owner.may(stat, mayEnter) {
		return unix.EACCES
	}
	below, _, err := w.dir().open(name, layers)
	if err != nil {
		below.close()
		return err
	}
	w.dirs, w.at = append(w.dirs, below), append(w.at, name)
	return nil
}
