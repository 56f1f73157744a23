package project

import (
	"errors"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// ViewOptions say what a [View] shows.
type ViewOptions struct {
	// Dir is the user's directory, as [Find] and [Places.Share] return it.
	Dir string
	// Base is the absolute path of a directory of this program's own, mode 0700,
	// outside of Dir; the view makes one in it for itself.
	Base string
	// Hidden reports whether programs must not see what is at a slash-separated
	// path relative to Dir, and below it, and returns a phrase that follows the
	// path. It is called from several goroutines.
	Hidden func(path string) (reason string, hidden bool)
	// MaxEntries is how many files and directories may be there. If zero,
	// [DefaultMaxEntries].
	MaxEntries int
	// MaxTime is how long looking at all of them may take. If zero,
	// [DefaultMaxTime].
	MaxTime time.Duration
}

// Defaults of [ViewOptions].
const (
	DefaultMaxEntries = 1_000_000
	DefaultMaxTime    = 30 * time.Second
)

// MaxListed is how many hidden paths a [Lease] lists.
const MaxListed = 1000

// ErrViewUnsupported means that this system cannot hide files in a directory.
var ErrViewUnsupported = errors.New("files of a directory can be hidden on Linux alone")

// Masked is one path that programs do not see, or see otherwise.
type Masked struct {
	// Path is slash-separated and relative to the directory. It may be no UTF-8.
	Path string
	// Reason follows the path.
	Reason string
	// Replaced reports that programs see something in its place: a git
	// configuration without its credentials.
	Replaced bool
}

// Lease is what one run sees of a directory. The layers stay as they are until
// [Lease.Release].
type Lease struct {
	// Layers are for [sandbox.Share.Layers]: the user's directory, and above it
	// the mask where anything is masked.
	Layers []string
	// Masked is what the mask is for, sorted by path, at most [MaxListed].
	Masked []Masked

	release func()
}

// Release says that no run uses the layers any more. It may be called again.
func (l *Lease) Release() {
	if l.release != nil {
		l.release()
	}
}

// generation is one state of what is shown besides the user's own directory. Its
// directory is never changed, since it may be a layer of a mounted overlay.
type generation struct {
	dir   string // empty where there is nothing to show
	users int
}

// remove removes the layer. What cannot be removed is left to the owner of the
// base directory.
func (g *generation) remove() {
	if g.dir != "" {
		_ = tempdir.Remove(g.dir)
	}
}

// generations has the newest one, and removes those that nobody uses any more.
type generations struct {
	mu      sync.Mutex
	current *generation // nil before the first lease
}

// use makes a generation the current one, until the next, and counts a user in.
func (all *generations) use(g *generation) (release func()) {
	all.mu.Lock()
	last := all.current
	all.current = g
	g.users++
	unused := last != nil && last != g && last.users == 0
	all.mu.Unlock()
	if unused {
		last.remove()
	}
	return sync.OnceFunc(func() {
		all.mu.Lock()
		g.users--
		unused := g.users == 0 && g != all.current
		all.mu.Unlock()
		if unused {
			g.remove()
		}
	})
}

// close forgets all of them, and removes the directory in which they are.
func (all *generations) close(dir string) error {
	all.mu.Lock()
	all.current = nil
	all.mu.Unlock()
	return tempdir.Remove(dir)
}
