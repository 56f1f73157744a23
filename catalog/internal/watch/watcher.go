package watch

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Limits bound what a [Watcher] takes of the system.
type Limits struct {
	// Watches bounds how many directories are watched, so that some of the
	// user's limit is left to others.
	Watches int
	// Poll is the time between two looks at the roots where not every
	// directory can be watched.
	Poll time.Duration
}

// Watcher turns the events of the operating system into a set of directories
// in which something may have changed. A scan begins, adds the directories that
// it lists, and ends; another goroutine takes the set.
//
// A watch follows its directory: what the paths of the directory are is what
// the newest scan found. Where that is news, the directory is in the set, since
// events may have borne other names or have been missed.
type Watcher struct {
	// Events holds one token while there is something to take.
	Events chan struct{}

	log        *slog.Logger
	roots      []string
	limits     Limits
	openSource Source // nil for none

	mu          sync.Mutex
	source      source               // nil where there is none; only scans and Close change it
	failed      bool                 // the source is of no more use
	paths       map[watched][]string // as the walk came to the directory
	listed      map[watched][]string // the same, of the scan that runs
	dirty       map[string]bool      // directories to look at
	overflow    bool                 // events were lost
	limit       error                // why not everything is watched
	unwatched   int                  // directories of the scan that runs
	limitLogged bool
}

// System opens the operating system's own source of events, and Library that
// of systems other than Linux.
var (
	System  Source = newSource
	Library Source = newLibrarySource
)

// Source opens a source of events.
type Source func(handle func(event)) (source, error)

// New returns a watcher of what lies in these roots. If source is nil, nothing
// is watched.
func New(roots []string, log *slog.Logger, limits Limits, source Source) *Watcher {
	return &Watcher{Events: make(chan struct{}, 1), log: log, roots: roots, limits: limits, openSource: source, dirty: map[string]bool{}}
}

// Begin prepares for a scan. A source that failed is replaced, so that all
// directories are in the set.
func (w *Watcher) Begin() {
	if w.openSource == nil {
		return
	}
	w.mu.Lock()
	failed := w.failed
	w.listed, w.limit, w.unwatched = map[watched][]string{}, nil, 0
	w.mu.Unlock()
	if failed {
		w.Close()
	}
	if w.current() == nil {
		w.open()
	}
}

func (w *Watcher) current() source {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.source
}

func (w *Watcher) open() {
	opened, err := w.openSource(w.handle)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.source, w.limit, w.failed, w.paths = opened, err, false, map[watched][]string{}
}

// Close ends all watches. It is called while no scan runs.
func (w *Watcher) Close() {
	w.mu.Lock()
	source := w.source
	w.source = nil
	w.mu.Unlock()
	if source == nil {
		return
	}
	if err := source.close(); err != nil {
		w.log.Warn("the watch of directories did not close", "error", err)
	}
}

// Add watches a directory. It is called before the directory is listed, by
// every scan: the path may stand for another directory by now.
func (w *Watcher) Add(path, real string) {
	source := w.current()
	if source == nil {
		return
	}
	id, err := watched(0), errWatches
	if len(w.listed) < w.limits.Watches {
		id, err = source.add(real)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.list(id, path)
	case isLimit(err):
		w.limit = err
		w.unwatched++
	}
	// Another error is met again, and reported, when the directory is listed.
}

// list notes a path of a watched directory. From now on its events bear that
// name too.
func (w *Watcher) list(id watched, path string) {
	if slices.Contains(w.listed[id], path) {
		return
	}
	w.listed[id] = append(w.listed[id], path)
	if !slices.Contains(w.paths[id], path) {
		w.paths[id] = append(w.paths[id], path)
		w.dirty[path] = true
	}
}

var errWatches = errors.New("too many directories")

// isLimit reports whether a directory could not be watched because watches or
// descriptors ran out: ENOSPC and EMFILE are what inotify and kqueue return.
func isLimit(err error) bool {
	return errors.Is(err, errWatches) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// End ends the watches of directories that the scan did not meet again.
func (w *Watcher) End() {
	for _, id := range w.prune() {
		if source := w.current(); source != nil {
			source.remove(id)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit != nil && !w.limitLogged {
		w.log.Warn("not every directory can be watched, so all are looked at now and then", "every", w.limits.Poll,
			"watched", len(w.listed), "unwatched", w.unwatched, "error", w.limit, "hint", problem.Lookup("watch-limit").Hint)
	}
	w.limitLogged = w.limit != nil
}

func (w *Watcher) prune() (unlisted []watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.paths {
		if w.listed[id] == nil {
			unlisted = append(unlisted, id)
		}
	}
	w.paths = w.listed
	return unlisted
}

// Limited reports whether some directories cannot be watched.
func (w *Watcher) Limited() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit != nil
}

// Problems returns the problem of what cannot be watched.
func (w *Watcher) Problems() []problem.Problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit == nil || len(w.roots) == 0 {
		return nil
	}
	r := &problem.Report{File: w.roots[0]}
	r.Add("watch-limit", problem.Position{}, "not every directory can be watched, so they are looked at every %v: %v",
		w.limits.Poll, strings.TrimSpace(problem.Cause(w.limit).Error()))
	return r.Problems
}
