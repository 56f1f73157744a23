// Package workspaces makes the directories that runs may write, one for each
// handle, and removes them when they are not used any more. A handle is all that
// it takes to use a workspace. What is in one was made by untrusted programs.
package workspaces

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

var (
	// ErrUnknown means that a handle names no workspace, and that it is not
	// remembered that one ever had it.
	ErrUnknown = errors.New("unknown workspace: it was never made, or before the server was restarted; call again without a workspace to get a new one")
	// ErrExpired means that a workspace was removed with all that was in it,
	// because it was not used for too long.
	ErrExpired = errors.New("expired workspace: it was removed after a time without use; call again without a workspace to get a new one, and make its files again")
	// ErrFull means that no workspace can be made while so many are in use.
	ErrFull = errors.New("too many workspaces in use: wait until a run has ended, or use a workspace that you have")
	// ErrClosed means that there are no workspaces any more.
	ErrClosed = errors.New("workspaces closed: the server is shutting down")
)

// Defaults of [Options].
const (
	DefaultMax  = 256
	DefaultIdle = time.Hour
)

const (
	// dirPrefix begins the name of a store's directory.
	dirPrefix = "skills-mcp-workspaces-"

	handlePrefix = "ws-"
	// privatePrefix begins the name of what belongs to a workspace and is not
	// in it; no handle has it.
	privatePrefix = "private-"
	handleBytes   = 16
	// handlesRemembered is of how many expired workspaces one can tell that
	// they expired.
	handlesRemembered = 4096

	// reserved is the part of all workspaces, one in so many, that one caller
	// alone cannot keep in use.
	reserved = 4
)

// Options configure [Store]. The zero value is ready to use.
type Options struct {
	// Idle is how long a workspace lives after its last use. If zero, an
	// hour.
	Idle time.Duration
	// Max is how many workspaces there may be at once; when one more is
	// made, that which was idle longest of the caller who has most expires.
	// At most three quarters may be in use by one caller. If zero,
	// [DefaultMax].
	Max int
	// Now is the clock. If nil, time.Now.
	Now func() time.Time
	// Logger gets what programs did to their workspaces. If nil, nothing is
	// logged.
	Logger *slog.Logger
}

// Workspace is one directory that runs may write.
type Workspace struct {
	// Handle names the workspace to clients. It cannot be guessed, and who
	// knows it may use the workspace.
	Handle string
	// Dir is the absolute host directory, and Private that of what belongs to
	// it and is not for all programs there, as in [sandbox.Spec].
	Dir, Private string

	lease *lease
}

// Usage is what a workspace holds.
type Usage = disk.Usage

// Usage returns what the workspace holds, and further directories that count for
// it, or that it is more than most.
func (w Workspace) Usage(most Usage, others ...string) Usage {
	return disk.MeasureAll(most, append([]string{w.Dir, w.Private}, others...)...)
}

// Acquire keeps the workspace from expiring until release is called, which must
// happen once: it is leased while a run or a transfer uses it.
func (w Workspace) Acquire() (release func()) { return w.lease.acquire() }

// Store makes workspaces and removes them when they are not used any
// more. Nothing runs in the background: what has expired goes at the next
// call. It may be used from many goroutines.
type Store struct {
	base string // of dir
	dir  *tempdir.Dir
	idle time.Duration
	max  int
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	closed  bool
	live    map[string]*lease
	told    func(handle string)
	expired []string       // oldest first
	removal sync.WaitGroup // of expired directories
}

// New makes a private directory for workspaces in base, or in the
// system's directory for temporary files where base is empty. What servers of
// this user that were killed left there is removed in the background.
func New(base string, options Options) (*Store, error) {
	dir, err := tempdir.New(base, dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("workspaces: %w", err)
	}
	w := &Store{
		base: dir.Path(),
		dir:  dir,
		idle: cmp.Or(max(options.Idle, 0), DefaultIdle),
		max:  cmp.Or(max(options.Max, 0), DefaultMax),
		now:  options.Now,
		log:  cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		live: make(map[string]*lease),
	}
	if w.now == nil {
		w.now = time.Now
	}
	return w, nil
}

// Create makes a new, empty workspace for a caller, at whose cost it is where
// there are many. The error may be [ErrFull].
func (w *Store) Create(caller string) (Workspace, error) {
	random := make([]byte, handleBytes)
	rand.Read(random) // never fails
	handle := handlePrefix + hex.EncodeToString(random)

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Workspace{}, ErrClosed
	}
	w.expire()
	if !w.makeRoom(caller) {
		return Workspace{}, ErrFull
	}
	w.repairBase()
	made := w.workspace(handle, &lease{store: w, caller: caller, used: w.now()})
	for _, dir := range []string{made.Dir, made.Private} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return Workspace{}, fmt.Errorf("make a workspace: %w", err)
		}
	}
	w.live[handle] = made.lease
	return made, nil
}

func (w *Store) workspace(handle string, lease *lease) Workspace {
	return Workspace{
		Handle: handle, Dir: filepath.Join(w.base, handle), Private: filepath.Join(w.base, privatePrefix+handle),
		lease: lease,
	}
}

// Get returns the workspace of a handle, and counts as a use of it. One that a
// program made unusable is repaired, or else replaced by an empty one. The error
// is [ErrUnknown], [ErrExpired] or [ErrClosed].
func (w *Store) Get(handle string) (Workspace, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Workspace{}, ErrClosed
	}
	w.expire()
	if lease, ok := w.live[handle]; ok {
		lease.used = w.now()
		w.repairBase()
		found := w.workspace(handle, lease)
		return found, w.repair(found)
	}
	if slices.Contains(w.expired, handle) {
		return Workspace{}, ErrExpired
	}
	return Workspace{}, ErrUnknown
}

// Remove removes the workspace of a handle, if there is one, leased or not: what
// runs in it has ended. It counts as expired.
func (w *Store) Remove(handle string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.live[handle]; ok {
		w.remove(handle)
	}
}

// Len returns how many workspaces there are.
func (w *Store) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live)
}

// OnExpire has a function called for every workspace that expires from now on,
// in a goroutine of its own that Close waits for. It replaces an earlier one.
func (w *Store) OnExpire(told func(handle string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = told
}

// Expire removes what has expired by now, as every call does that makes or
// returns a workspace.
func (w *Store) Expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire()
}

// Close removes all workspaces, leased or not: end what runs in them first.
func (w *Store) Close() error {
	w.mu.Lock()
	w.closed = true
	w.live = nil
	w.mu.Unlock()
	w.removal.Wait()
	return w.dir.Close()
}
