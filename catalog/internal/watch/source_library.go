package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// librarySource is the source of other systems than Linux. The library knows
// directories by their paths, and was seen to lose its own goroutine to a
// panic once a path had come to stand for another directory. So it gets
// every path once and is asked to forget none, and given up for a new one as
// soon as a watched directory was moved or removed.
type librarySource struct {
	library *fsnotify.Watcher
	handle  func(event)
	running sync.WaitGroup

	mu      sync.Mutex
	byPath  map[string]watched
	watched []fs.FileInfo
}

var errMoved = errors.New("a watched directory was moved or removed")

func newLibrarySource(handle func(event)) (source, error) {
	library, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	l := &librarySource{library: library, handle: handle, byPath: map[string]watched{}}
	l.running.Go(l.run)
	return l, nil
}

func (l *librarySource) add(path string, _ bool) (id watched, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("watching a directory: %v", cause)
			l.handle(event{failure: err})
		}
	}()
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if id, known := l.known(path); known {
		if !os.SameFile(info, l.watched[id]) {
			l.handle(event{failure: errMoved})
		}
		return id, nil
	}
	if err := l.library.Add(path); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id = watched(len(l.watched))
	l.watched, l.byPath[path] = append(l.watched, info), id
	return id, nil
}

func (l *librarySource) known(path string) (id watched, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, known = l.byPath[path]
	return id, known
}

func (l *librarySource) remove(watched) {}

func (l *librarySource) drain() {}

// run drains the library until it is closed: while its events wait to be taken it
// may hold a lock.
func (l *librarySource) run() {
	for {
		select {
		case told, ok := <-l.library.Events:
			if !ok {
				return
			}
			l.told(told)
		case err, ok := <-l.library.Errors:
			if !ok {
				return
			}
			// What was lost may be that a directory was moved.
			l.handle(event{failure: err})
		}
	}
}

func (l *librarySource) told(told fsnotify.Event) {
	_, isWatched := l.known(told.Name)
	if isWatched && (told.Has(fsnotify.Rename) || told.Has(fsnotify.Remove)) {
		l.handle(event{failure: errMoved})
		return
	}
	if dir, known := l.known(filepath.Dir(told.Name)); known {
		l.handle(event{dir: dir, name: filepath.Base(told.Name), attributes: told.Op == fsnotify.Chmod})
	}
}

func (l *librarySource) close() error {
	err := l.library.Close()
	l.running.Wait()
	return err
}
