package catalog

import (
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Variables of the package for the tests alone.
var (
	// maxWatches bounds how many directories one catalog watches, so that it
	// leaves some of the user's limit to others.
	maxWatches = 50_000
	// maxPending bounds how many changed files are kept apart; beyond it only
	// their directories are.
	maxPending = 4096
	// fallbackPoll is the time between two looks at the roots where not
	// every directory can be watched.
	fallbackPoll = 3 * time.Second
)

// watcher turns the events of the operating system into a set of changed
// paths. The scan adds the directories that it lists; Watch takes the paths.
//
// Directories are watched by their real paths, since the operating system
// sees a directory once, however many links lead to it.
type watcher struct {
	notify *fsnotify.Watcher // nil where there is none: then all is polling
	log    *slog.Logger
	roots  []string
	events chan struct{} // holds one token while there is something to take

	mu       sync.Mutex
	paths    map[string]string // real directory → as the walk came to it
	listed   map[string]string // the same, of the scan that runs
	pending  map[string]bool
	overflow bool  // events were lost
	limit    error // why not everything is watched
}

// newWatcher begins to take events. The error that fsnotify may give is kept
// as a limit: without events there is still polling.
func newWatcher(roots []Root, log *slog.Logger, poll bool) *watcher {
	w := &watcher{
		log: log, events: make(chan struct{}, 1),
		paths: map[string]string{}, listed: map[string]string{}, pending: map[string]bool{},
	}
	for _, root := range roots {
		w.roots = append(w.roots, root.Path)
	}
	if poll {
		return w
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		w.limit = err
		return w
	}
	w.notify = notify
	return w
}

// run drains the events until the watcher is closed, however slow those are
// who take them.
func (w *watcher) run() {
	for {
		select {
		case event, ok := <-w.notify.Events:
			if !ok {
				return
			}
			w.event(event)
		case err, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			w.failed(err)
		}
	}
}

func (w *watcher) event(event fsnotify.Event) {
	if event.Name == "" {
		return // of a watch that was removed meanwhile
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	name := filepath.Base(event.Name)
	path := event.Name
	if dir, found := w.paths[filepath.Dir(event.Name)]; found {
		path = filepath.Join(dir, name)
	} else if own, found := w.paths[event.Name]; found {
		path = own // the directory itself
	}
	if !w.concerns(path, ignoredDirs[name] || ignoredFile(name)) {
		return
	}
	// A change of attributes alone can make a file readable, so it is worth
	// a scan, but it is not a change of the file.
	if event.Op != fsnotify.Chmod {
		w.remember(path)
	}
	w.wake()
}

// concerns tells whether a path lies in a root and is not ignored there, or
// is on the way to a root.
func (w *watcher) concerns(path string, ignored bool) bool {
	return slices.ContainsFunc(w.roots, func(root string) bool {
		return within(root, path) || !ignored && within(path, root)
	})
}

func (w *watcher) remember(path string) {
	if len(w.pending) >= maxPending {
		path = filepath.Dir(path)
	}
	if len(w.pending) >= 2*maxPending {
		w.pending, w.overflow = map[string]bool{}, true
	}
	if !w.overflow {
		w.pending[path] = true
	}
}

func (w *watcher) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.log.Warn("file events were lost, scanning everything")
		w.overflow = true
	} else {
		w.log.Warn("watching failed, scanning again", "error", err)
	}
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.events <- struct{}{}:
	default:
	}
}

// take gives the paths that changed since the last call. all tells that
// there may be others.
func (w *watcher) take() (paths []string, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	paths, all = slices.Collect(maps.Keys(w.pending)), w.overflow
	w.pending, w.overflow = map[string]bool{}, false
	return paths, all
}

// begin prepares for a scan.
func (w *watcher) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed = map[string]string{}
	if w.notify != nil {
		w.limit = nil
	}
}

// add watches a directory. It is called before the directory is listed, by
// every scan anew: the path may stand for another directory by now.
func (w *watcher) add(path, real string) {
	if w.notify == nil {
		return
	}
	w.mu.Lock()
	// What leads to one root may lie in another, and is better known so.
	if known, found := w.listed[real]; !found || !w.inRoot(known) {
		w.listed[real], w.paths[real] = path, path
	}
	full := len(w.listed) > maxWatches
	w.mu.Unlock()
	err := errWatches
	if !full {
		err = w.notify.Add(real)
	}
	if err != nil && isLimit(err) {
		w.mu.Lock()
		w.limit = err
		w.mu.Unlock()
	}
	// Another error is met again, and reported, when the directory is listed.
}

func (w *watcher) inRoot(path string) bool {
	return slices.ContainsFunc(w.roots, func(root string) bool { return within(path, root) })
}

var errWatches = errors.New("too many directories")

// isLimit tells whether a directory could not be watched for want of watches
// or descriptors: ENOSPC and EMFILE are what inotify and kqueue give.
func isLimit(err error) bool {
	return errors.Is(err, errWatches) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// prune ends the watches of directories that the scan did not meet again.
//
// A directory that was moved together with the one that it lies in is still
// watched under its old path, so that to watch it under the new one had no
// effect: it is watched again, and looked at again, since its events bore the
// wrong name.
func (w *watcher) prune() {
	if w.notify == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths = maps.Clone(w.listed)
	watched := map[string]bool{}
	moved := false
	for _, real := range w.notify.WatchList() {
		watched[real] = true
		if _, found := w.listed[real]; !found {
			moved = true
			// It may have gone by itself, with its directory.
			_ = w.notify.Remove(real)
		}
	}
	if !moved {
		return
	}
	for real, path := range w.listed {
		if !watched[real] && w.notify.Add(real) == nil {
			w.remember(path)
			w.wake()
		}
	}
}

// limited tells whether some directories cannot be watched.
func (w *watcher) limited() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit != nil
}

// problems gives the problem of what cannot be watched.
func (w *watcher) problems() []Problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit == nil || len(w.roots) == 0 {
		return nil
	}
	r := &report{file: w.roots[0]}
	r.add("watch-limit", position{}, "not every directory can be watched, so they are looked at every %v: %v",
		fallbackPoll, strings.TrimSpace(cause(w.limit).Error()))
	return r.problems
}

func (w *watcher) close() error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Close()
}
