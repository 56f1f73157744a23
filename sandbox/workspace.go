package sandbox

import (
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
)

var (
	// ErrWorkspaceUnknown means that a handle names no workspace, and that it
	// is not remembered that one ever had it.
	ErrWorkspaceUnknown = errors.New("unknown workspace: it was never made, or before the server was restarted; call again without a workspace to get a new one")
	// ErrWorkspaceExpired means that a workspace was removed with all that
	// was in it, because it was not used for too long.
	ErrWorkspaceExpired = errors.New("expired workspace: it was removed after a time without use; call again without a workspace to get a new one, and make its files again")
	// ErrWorkspacesFull means that no workspace can be made while so many
	// are in use.
	ErrWorkspacesFull = errors.New("too many workspaces in use: wait until a run has ended, or use a workspace that you have")
	// ErrWorkspacesClosed means that there are no workspaces any more.
	ErrWorkspacesClosed = errors.New("workspaces closed: the server is shutting down")
)

// Defaults of [WorkspaceOptions].
const (
	DefaultWorkspaceIdle = time.Hour
	DefaultWorkspaceMax  = 256
)

const (
	// workspacesPrefix begins the name of a server's directory of workspaces.
	workspacesPrefix = "skills-mcp-workspaces-"

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

// WorkspaceOptions configure [Workspaces]. The zero value is ready to use.
type WorkspaceOptions struct {
	// Idle is how long a workspace lives after its last use. If zero,
	// [DefaultWorkspaceIdle].
	Idle time.Duration
	// Max is how many workspaces there may be at once; when one more is
	// made, that which was idle longest of the caller who has most expires.
	// At most three quarters may be in use by one caller. If zero,
	// [DefaultWorkspaceMax].
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
	// it and is not for all programs there, as in [Spec].
	Dir, Private string

	held *holding
}

// Usage returns what the workspace holds, or that it is more than most.
func (w Workspace) Usage(most Usage) Usage { return MeasureAll(most, w.Dir, w.Private) }

// Hold keeps the workspace from expiring until release is called, which must
// happen once: it is held while a run or a transfer uses it.
func (w Workspace) Hold() (release func()) { return w.held.hold() }

// Workspaces makes workspaces and removes them when they are not used any
// more. Nothing runs in the background: what has expired goes at the next
// call. It may be used from many goroutines.
type Workspaces struct {
	base string // of dir
	dir  *tempdir.Dir
	idle time.Duration
	max  int
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	closed  bool
	live    map[string]*holding
	told    func(handle string)
	expired []string       // oldest first
	removal sync.WaitGroup // of expired directories
}

// NewWorkspaces makes a private directory for workspaces in base, or in the
// system's directory for temporary files where base is empty. What servers of
// this user that were killed left there is removed in the background.
func NewWorkspaces(base string, options WorkspaceOptions) (*Workspaces, error) {
	dir, err := tempdir.New(base, workspacesPrefix)
	if err != nil {
		return nil, fmt.Errorf("workspaces: %w", err)
	}
	w := &Workspaces{
		base: dir.Path(),
		dir:  dir,
		idle: options.Idle,
		max:  options.Max,
		now:  options.Now,
		log:  options.Logger,
		live: make(map[string]*holding),
	}
	if w.idle <= 0 {
		w.idle = DefaultWorkspaceIdle
	}
	if w.max <= 0 {
		w.max = DefaultWorkspaceMax
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	return w, nil
}

// Create makes a new, empty workspace for a caller, at whose cost it is where
// there are many. The error may be [ErrWorkspacesFull].
func (w *Workspaces) Create(caller string) (Workspace, error) {
	random := make([]byte, handleBytes)
	rand.Read(random) // never fails
	handle := handlePrefix + hex.EncodeToString(random)

	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Workspace{}, ErrWorkspacesClosed
	}
	w.expire()
	if !w.makeRoom(caller) {
		return Workspace{}, ErrWorkspacesFull
	}
	w.repairBase()
	made := w.workspace(handle, &holding{owner: w, caller: caller, used: w.now()})
	for _, dir := range []string{made.Dir, made.Private} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return Workspace{}, fmt.Errorf("make a workspace: %w", err)
		}
	}
	w.live[handle] = made.held
	return made, nil
}

func (w *Workspaces) workspace(handle string, held *holding) Workspace {
	return Workspace{
		Handle: handle, Dir: filepath.Join(w.base, handle), Private: filepath.Join(w.base, privatePrefix+handle),
		held: held,
	}
}

// Get returns the workspace of a handle, and counts as a use of it. One that a
// program made unusable is repaired, or else replaced by an empty one. The error
// is [ErrWorkspaceUnknown], [ErrWorkspaceExpired] or [ErrWorkspacesClosed].
func (w *Workspaces) Get(handle string) (Workspace, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Workspace{}, ErrWorkspacesClosed
	}
	w.expire()
	if held, ok := w.live[handle]; ok {
		held.used = w.now()
		w.repairBase()
		found := w.workspace(handle, held)
		return found, w.repair(found)
	}
	if slices.Contains(w.expired, handle) {
		return Workspace{}, ErrWorkspaceExpired
	}
	return Workspace{}, ErrWorkspaceUnknown
}

// OnExpire has a function told of every workspace that expires from now on, in
// a goroutine of its own that Close waits for. It takes the place of one that
// was given before.
func (w *Workspaces) OnExpire(told func(handle string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = told
}

// Expire removes what has expired by now, as every call does that makes or
// gives a workspace.
func (w *Workspaces) Expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire()
}

// Close removes all workspaces, held or not: end what runs in them first.
func (w *Workspaces) Close() error {
	w.mu.Lock()
	w.closed = true
	w.live = nil
	w.mu.Unlock()
	w.removal.Wait()
	return w.dir.Close()
}
