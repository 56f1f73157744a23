package watch

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Limits bound what a [Watcher] takes of the system.
type Limits struct {
	// Watches bounds how many directories are watched for what is in them, so that
	// some of the user's limit is left to others.
	Watches int
	// Poll is the time between two looks at the roots where not every
	// directory can be watched.
	Poll time.Duration
}

// Watcher turns the events of the operating system into what may have changed:
// the paths that a scan has to look at, and the directories with files that
// differ. Whoever scans begins, adds the directories that it lists, and ends, or
// takes the paths and adds and removes directories one by one. Another goroutine
// takes the directories.
//
// A watch follows its directory: what the paths of the directory are is what
// the scans found. Where that is news, the directory is in the set, since
// events may have borne other names or have been missed.
type Watcher struct {
	// Events holds one token while there is something to take.
	Events chan struct{}

	log        *slog.Logger
	roots      []string
	limits     Limits
	openSource Source // nil for none

	mu          sync.Mutex
	source      source              // nil where there is none; only scans and Close change it
	failed      bool                // the source is of no more use
	places      map[watched][]place // of the directory, as walks came to it
	scan        int                 // counts the scans
	listed      int                 // paths of directories that the last one found, and others since
	touched     map[Touch]bool      // paths to scan
	dirty       map[string]bool     // directories with files that may differ
	lostPaths   bool                // more is to be scanned than is known
	lostFiles   bool                // more files may differ than is known
	limit       error               // why not everything is watched
	unwatched   int                 // directories, since the last scan began
	limitLogged bool
}

// place is why a directory is watched.
type place struct {
	path string // where it was found
	// entry is not empty where the directory is watched for that entry alone, over
	// which the way leads to path.
	entry string
	scan  int // the last that found it
}

func (p place) is(other place) bool { return p.path == other.path && p.entry == other.entry }

// maxWays bounds how many ways are watched that lead over entries of one
// directory.
const maxWays = 256

// Watch is the watch of a directory at one path. The zero value is none.
type Watch struct {
	id  watched
	set bool
}

// Way is the watch of an entry over which the way leads to a path.
type Way struct {
	watch       Watch
	path, entry string
}

// Touch is a path at which something happened: an entry of a directory, or with
// an empty name the directory itself.
type Touch struct{ Dir, Name string }

// maxTouched bounds how many paths are kept apart for the next scan; it looks at
// everything if there are more.
const maxTouched = 50_000

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
	return &Watcher{Events: make(chan struct{}, 1), log: log, roots: roots, limits: limits, openSource: source,
		touched: map[Touch]bool{}, dirty: map[string]bool{}}
}

// Begin prepares for a scan of everything, for which nothing is to be taken any
// more. A source that failed is replaced, so that all directories are in the set;
// then the watches that there were are none of this watcher any more.
func (w *Watcher) Begin() (replaced bool) {
	if w.openSource == nil {
		return false
	}
	w.Touched()
	w.mu.Lock()
	failed := w.failed
	w.scan++
	w.listed, w.limit, w.unwatched = 0, nil, 0
	w.mu.Unlock()
	if failed {
		w.Close()
	}
	if w.current() == nil {
		w.open()
	}
	return failed
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
	w.source, w.limit, w.failed, w.places = opened, err, false, map[watched][]place{}
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
// every scan of everything: the path may stand for another directory by now.
func (w *Watcher) Add(path, real string) Watch { return w.add(real, true, place{path: path}) }

// AddWay watches an entry of a directory. What happens to it is told as if it had
// happened to path; if contents is false, writes to it may be left out.
func (w *Watcher) AddWay(real, entry string, contents bool, path string) Way {
	return Way{w.add(real, contents, place{path: path, entry: entry}), path, entry}
}

func (w *Watcher) add(real string, contents bool, where place) Watch {
	source := w.current()
	if source == nil {
		return Watch{}
	}
	w.mu.Lock()
	room := w.listed < w.limits.Watches
	w.mu.Unlock()
	id, err := watched(0), errWatches
	if room {
		id, err = source.add(real, contents)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.list(id, where)
	case isLimit(err):
		w.limit = err
		w.unwatched++
	}
	// Another error is met again, and reported, when the directory is listed.
	return Watch{id, err == nil}
}

// list notes where a watched directory is. From now on its events bear that
// name too.
func (w *Watcher) list(id watched, where place) {
	where.scan = w.scan
	places := w.places[id]
	i := slices.IndexFunc(places, where.is)
	switch {
	case i >= 0 && places[i].scan == w.scan:
		return
	case i >= 0:
		places[i].scan = w.scan
	case where.entry != "" && len(places) >= maxWays:
		return
	default:
		w.places[id] = append(places, where)
	}
	if where.entry == "" {
		w.listed++
		if i < 0 {
			w.dirty[where.path] = true
		}
	}
}

// Remove ends what [Watcher.Add] began for that path.
func (w *Watcher) Remove(watch Watch, path string) { w.remove(watch, place{path: path}) }

// RemoveWay ends what [Watcher.AddWay] began.
func (w *Watcher) RemoveWay(way Way) { w.remove(way.watch, place{path: way.path, entry: way.entry}) }

func (w *Watcher) remove(watch Watch, where place) {
	if source := w.current(); watch.set && source != nil && w.forget(watch.id, where.is) {
		source.remove(watch.id)
	}
}

// forget forgets places of a watched directory, and reports whether none is
// left.
func (w *Watcher) forget(id watched, gone func(place) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	places, known := w.places[id]
	if !known {
		return false
	}
	w.places[id] = slices.DeleteFunc(places, func(p place) bool {
		if !gone(p) {
			return false
		}
		if p.entry == "" && p.scan == w.scan {
			w.listed--
		}
		return true
	})
	if len(w.places[id]) > 0 {
		return false
	}
	delete(w.places, id)
	return true
}

var errWatches = errors.New("too many directories")

// isLimit reports whether a directory could not be watched because watches or
// descriptors ran out: ENOSPC and EMFILE are what inotify and kqueue return.
func isLimit(err error) bool {
	return errors.Is(err, errWatches) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// End ends the watches of directories that the scan did not meet again.
func (w *Watcher) End() {
	w.mu.Lock()
	ids := slices.Collect(maps.Keys(w.places))
	w.mu.Unlock()
	for _, id := range ids {
		if source := w.current(); w.forget(id, func(p place) bool { return p.scan != w.scan }) && source != nil {
			source.remove(id)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit != nil && !w.limitLogged {
		w.log.Warn("not every directory can be watched, so all are looked at now and then", "every", w.limits.Poll,
			"watched", w.listed, "unwatched", w.unwatched, "error", w.limit, "hint", problem.Lookup("watch-limit").Hint)
	}
	w.limitLogged = w.limit != nil
}

// Retry prepares for another try to watch directories that could not be watched.
// Until then files in them may differ.
func (w *Watcher) Retry(paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.unwatched = nil, 0
	for _, path := range paths {
		w.dirty[path] = true
	}
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
