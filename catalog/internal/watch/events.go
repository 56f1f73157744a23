package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

// handle is called by the source, and returns soon.
func (w *Watcher) handle(e event) {
	if e.gone {
		defer w.forget(e.dir, func(place) bool { return true })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.failure != nil:
		w.fail(e.failure)
	case e.lost:
		w.log.Warn("file events were lost, scanning everything")
		w.lostPaths, w.lostFiles = true, true
		w.wake()
	default:
		for _, at := range w.places[e.dir] {
			switch {
			case at.entry == "":
				w.happened(at.path, e.name, e.attributes)
			case at.entry == e.name || e.name == "":
				w.happened(filepath.Dir(at.path), filepath.Base(at.path), true)
			}
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
	w.failed, w.lostPaths, w.lostFiles = true, true, true
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
	if path := filepath.Join(dir, name); !slices.Contains(w.roots, path) && ignored.Directory(filepath.Base(path)) {
		return
	}
	if !attributes {
		w.dirty[dir] = true
	}
	if w.touched[Touch{dir, name}] = true; len(w.touched) > maxTouched {
		w.lostPaths = true
		clear(w.touched)
	}
	w.wake()
}

func (w *Watcher) wake() {
	select {
	case w.Events <- struct{}{}:
	default:
	}
}

// Touched returns the paths at which something happened since the last call. all
// is true where there may be others.
func (w *Watcher) Touched() (paths []Touch, all bool) {
	w.drain()
	w.mu.Lock()
	defer w.mu.Unlock()
	paths, all = slices.Collect(maps.Keys(w.touched)), w.lostPaths
	w.lostPaths = false
	clear(w.touched)
	return paths, all
}

// Take returns the directories in which files may differ since the last call.
// all is true where there may be others.
func (w *Watcher) Take() (dirs []string, all bool) {
	w.drain()
	w.mu.Lock()
	defer w.mu.Unlock()
	dirs, all = slices.Collect(maps.Keys(w.dirty)), w.lostFiles
	w.lostFiles = false
	clear(w.dirty)
	return dirs, all
}

func (w *Watcher) drain() {
	if source := w.current(); source != nil {
		source.drain()
	}
}
