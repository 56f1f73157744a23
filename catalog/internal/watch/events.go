package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// handle is called by the source, and returns soon.
func (w *Watcher) handle(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.failure != nil:
		w.fail(e.failure)
	case e.lost:
		w.log.Warn("file events were lost, scanning everything")
		w.overflow = true
		w.wake()
	default:
		for _, dir := range w.paths[e.dir] {
			w.happened(dir, e.name, e.attributes)
		}
		if e.gone {
			delete(w.paths, e.dir)
		}
	}
}

// Lose does what happens when the operating system loses events.
func (w *Watcher) Lose() { w.handle(event{lost: true}) }

// Fail does what happens when the source is of no more use, because a watched
// directory was moved.
func (w *Watcher) Fail() { w.handle(event{failure: errMoved}) }

// fail has the source replaced: by a scan that begins soon where a directory
// was moved, else, so that what fails at once does not fail all the time, by
// one that is due anyway.
func (w *Watcher) fail(err error) {
	if w.failed {
		return
	}
	w.failed, w.overflow = true, true
	if errors.Is(err, errMoved) {
		w.wake()
		return
	}
	w.log.Warn("watching failed, scanning everything again", "error", err)
	w.limit = err
}

// happened takes note of an event. A change of attributes alone can make a
// file readable, so it is worth a scan, but it is not a change of the file.
func (w *Watcher) happened(dir, name string, attributes bool) {
	path := filepath.Join(dir, name)
	if !w.concerns(path, ignored.Directory(filepath.Base(path))) {
		return
	}
	if !attributes {
		w.dirty[dir] = true
	}
	w.wake()
}

// concerns reports whether a path lies in a root and is not ignored there, or
// is on the way to a root.
func (w *Watcher) concerns(path string, ignored bool) bool {
	return slices.ContainsFunc(w.roots, func(root string) bool {
		return pathname.Within(root, path) || !ignored && pathname.Within(path, root)
	})
}

func (w *Watcher) wake() {
	select {
	case w.Events <- struct{}{}:
	default:
	}
}

// Take returns the directories in which something may have changed since the
// last call. all is true where there may be others.
func (w *Watcher) Take() (dirs []string, all bool) {
	if source := w.current(); source != nil {
		source.drain()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	dirs, all = slices.Collect(maps.Keys(w.dirty)), w.overflow
	w.overflow = false
	clear(w.dirty)
	return dirs, all
}
