//go:build amd64 || arm64

package local

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// spareLife is how long a spare enclosure waits for a program: it holds some
// memory, and mounts that the machine's user may want to be rid of.
const spareLife = 5 * time.Minute

// spares keep one enclosure ready, so that a run need not wait until the kernel
// has made one. Each is used once.
type spares struct {
	system *system

	mu      sync.Mutex
	closed  bool
	ready   *spare
	pending bool // one is being made
	making  sync.WaitGroup
}

// spare is an enclosure that waits, and what it was made for.
type spare struct {
	*enclosure
	bounds [2]int64
	scene  *scene
	expiry *time.Timer
}

// boundsOf are those limits that an enclosure is made with; the program's
// process gets the others.
func boundsOf(limits sandbox.Limits) [2]int64 {
	return [2]int64{limits.MemoryBytes, int64(limits.Processes)}
}

// take gives an enclosure for a program with such limits, and whether it is
// one that was ready.
func (s *spares) take(limits sandbox.Limits) (e *enclosure, ready bool, err error) {
	s.mu.Lock()
	found := s.ready
	s.ready = nil
	s.mu.Unlock()
	if found != nil {
		found.expiry.Stop()
		fits := found.bounds == boundsOf(limits) && !found.scene.changed()
		found.scene.close()
		if fits {
			return found.enclosure, true, nil
		}
		s.making.Go(found.dismiss)
	}
	e, err = s.system.newEnclosure(limits)
	return e, false, err
}

// prepare makes the next enclosure ready, in the background.
func (s *spares) prepare(limits sandbox.Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ready != nil || s.pending {
		return
	}
	s.pending = true
	s.making.Go(func() {
		made, err := s.make(limits)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pending = false
		if err == nil { // else the next run will say why
			s.keep(made)
		}
	})
}

func (s *spares) make(limits sandbox.Limits) (*spare, error) {
	scene, err := s.system.look() // first: what changes from now on is noticed
	if err != nil {
		return nil, err
	}
	e, err := s.system.newEnclosure(limits)
	if err != nil {
		scene.close()
		return nil, err
	}
	return &spare{enclosure: e, bounds: boundsOf(limits), scene: scene}, nil
}

// keep has the lock.
func (s *spares) keep(made *spare) {
	s.ready = made
	made.expiry = time.AfterFunc(spareLife, func() { s.drop(made) })
}

// drop dismisses a spare unless it was taken.
func (s *spares) drop(old *spare) {
	s.mu.Lock()
	found := old != nil && s.ready == old
	if found {
		s.ready = nil
	}
	s.mu.Unlock()
	if found {
		old.expiry.Stop()
		old.scene.close()
		old.dismiss()
	}
}

// close dismisses what is ready and waits for what is being made or ended.
func (s *spares) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.making.Wait()
	s.mu.Lock()
	last := s.ready
	s.mu.Unlock()
	s.drop(last)
}

// scene is the part of this machine's file system that an enclosure shows to
// every program, as it was when the enclosure was made.
type scene struct {
	layout *layout
	files  []file
	mounts int // descriptor
}

// file identifies a file.
type file struct{ dev, ino uint64 }

func (s *system) look() (*scene, error) {
	// Not by os.Open: Go's poller would be told of changes in our place.
	mounts, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &scene{layout: &s.layout, files: s.layout.identify(), mounts: mounts}, nil
}

// changed tells whether there is something new, or other mounts: those below
// the directories of a run would be missing. The kernel tells of mounts by an
// exceptional condition of the file that lists them.
func (s *scene) changed() bool {
	poll := []unix.PollFd{{Fd: int32(s.mounts), Events: unix.POLLPRI}}
	n, err := unix.Poll(poll, 0)
	return n != 0 || err != nil || !slices.Equal(s.files, s.layout.identify())
}

func (s *scene) close() { unix.Close(s.mounts) }

// identify tells which files and directories of the system there are now.
func (l *layout) identify() []file {
	files := make([]file, len(l.mounts))
	for i, mount := range l.mounts {
		var stat unix.Stat_t
		if unix.Stat(mount.Source, &stat) == nil {
			files[i] = file{uint64(stat.Dev), stat.Ino}
		}
	}
	return files
}
