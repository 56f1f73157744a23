package changes

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/overlay"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

const (
	// setAge is how long a set lives after its last use, and emptyAge one that
	// holds nothing. A trace of its name lives for traceAge.
	setAge   = 7 * 24 * time.Hour
	emptyAge = time.Hour
	traceAge = 60 * 24 * time.Hour

	defaultKeepApplied = 20
	defaultKeepBytes   = 2 << 30

	// newPrefix begins the name of a directory that is being made.
	newPrefix = ".new-"
	idPrefix  = "cs-"
)

// Store keeps change sets in a directory of the user's state. It may be used
// from many goroutines and processes.
type Store struct {
	dir         string
	log         *slog.Logger
	now         func() time.Time
	keepApplied int
	keepBytes   int64
	wait        time.Duration
}

// Open opens the store in a directory, which is made with mode 0700 where it is
// not there. It finishes or takes back what a killed process left half done, and
// removes sets that nobody used for a week. The error wraps [ErrState], or
// [ErrUnsupported].
func Open(dir string, o Options) (*Store, error) {
	s := &Store{
		log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), now: o.Now, wait: o.Wait,
		keepApplied: cmp.Or(max(o.KeepApplied, 0), defaultKeepApplied), keepBytes: cmp.Or(max(o.KeepBytes, 0), defaultKeepBytes),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%w: its path is relative", ErrState)
	}
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	var err error
	if s.dir, err = filepath.EvalSymlinks(dir); err != nil { // a home may be behind one
		return nil, stateError(err)
	}
	for _, private := range []string{s.sets(), s.applied(), s.expired()} {
		if err := makePrivate(private); err != nil {
			return nil, err
		}
	}
	s.recover()
	s.reap()
	return s, nil
}

func (s *Store) sets() string    { return filepath.Join(s.dir, "sets") }
func (s *Store) applied() string { return filepath.Join(s.dir, "applied") }
func (s *Store) expired() string { return filepath.Join(s.dir, "expired") }

// makePrivate makes a directory for this user alone, or makes sure that it is
// one.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return stateError(err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return stateError(err)
	}
	if !info.IsDir() || !filestat.Ours(info) {
		return fmt.Errorf("%w: %s is a link, a file or another user's", ErrState, filepath.Base(dir))
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return stateError(err)
	}
	return nil
}

func validName(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == len(steps.NewName()) && strings.ToLower(name) == name
}

// New makes an empty set for a target. The caller closes it. The error may be
// one of the target's, such as [ErrTargetGone].
func (s *Store) New(target Target) (*Set, error) {
	lower, err := files.Open(target.Path)
	if err != nil {
		return nil, targetError(target.Path, err)
	}
	defer lower.Close()
	is, err := files.RootOf(lower)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", ErrTargetUnusable, files.Reason(err))
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	name := steps.NewName()
	temp := filepath.Join(s.sets(), newPrefix+name)
	if err := s.fill(temp, identity{Target: target, Root: is, Key: key, Created: s.now()}); err != nil {
		return nil, errors.Join(fmt.Errorf("make a change set: %w", stateError(err)), tempdir.Remove(temp))
	}
	opened, err := tryLock(temp, openLock, unix.LOCK_SH)
	if err == nil {
		err = os.Rename(temp, filepath.Join(s.sets(), name))
	}
	if err != nil {
		return nil, err
	}
	return s.load(name, opened)
}

// fill writes what every set has.
func (s *Store) fill(dir string, is identity) error {
	if err := os.MkdirAll(filepath.Join(dir, dataDir), 0o700); err != nil {
		return err
	}
	since, err := files.Stamp(dir)
	if err != nil {
		return err
	}
	return errors.Join(files.WriteJSON(filepath.Join(dir, recordFile), record{Known: overlay.Known{Since: since, At: since}}, true), files.WriteJSON(filepath.Join(dir, identityFile), is, true))
}

// Open returns the set of an id, of any state of it. The caller closes it. The
// error may be [ErrUnknown] or [ErrExpired].
func (s *Store) Open(id string) (*Set, error) {
	name, ok := strings.CutPrefix(id, idPrefix)
	name, _, _ = strings.Cut(name, "-")
	if !ok || !validName(name) {
		return nil, ErrUnknown
	}
	return s.open(name)
}

func (s *Store) open(name string) (*Set, error) {
	opened, err := tryLock(filepath.Join(s.sets(), name), openLock, unix.LOCK_SH)
	switch {
	case err == nil:
		return s.load(name, opened)
	case errors.Is(err, unix.EWOULDBLOCK): // it is being removed
		return nil, ErrExpired
	case !errors.Is(err, fs.ErrNotExist):
		return nil, stateError(err)
	}
	if _, err := os.Lstat(filepath.Join(s.expired(), name)); err == nil {
		return nil, ErrExpired
	}
	return nil, ErrUnknown
}

func (s *Store) load(name string, opened *lock) (*Set, error) {
	x := &Set{store: s, name: name, dir: filepath.Join(s.sets(), name), opened: opened, wait: s.wait}
	if err := readJSON(filepath.Join(x.dir, identityFile), &x.identity); err != nil {
		opened.release()
		if errors.Is(err, fs.ErrNotExist) { // removed since the lock was opened
			return nil, ErrExpired
		}
		return nil, err
	}
	return x, nil
}

// names lists the sets or applies in a directory, and removes there what is left
// of those that somebody was killed while he made or removed them.
func (s *Store) names(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, stateError(err)
	}
	for _, e := range entries {
		if validName(e.Name()) {
			names = append(names, e.Name())
		} else if s.leftover(e) {
			s.drop(filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// List returns the sets that hold something, the last used first.
func (s *Store) List(ctx context.Context) ([]Info, error) {
	names, err := s.names(s.sets())
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, name := range names {
		info, err := s.info(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && (len(info.Changes) > 0 || info.Refused > 0 || info.Problem != "") {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return b.Used.Compare(a.Used) })
	return list, nil
}

func (s *Store) info(ctx context.Context, name string) (Info, error) {
	x, err := s.open(name)
	if err != nil {
		return Info{}, err
	}
	defer x.Close()
	info := Info{ID: idPrefix + name, Target: x.Target(), Created: x.Created, Used: x.used(), Changes: map[Kind]int{}}
	l, err := x.look(ctx, nil, false)
	if err != nil {
		info.Problem = problem(err)
		return info, nil
	}
	defer l.close()
	info.Running = l.use == nil
	if err := l.scan(); err != nil {
		info.Problem = problem(err)
		return info, nil
	}
	info.ID = l.id()
	for _, v := range l.verdicts() {
		if v.refused != "" {
			info.Refused++
		} else {
			info.Changes[v.change.Kind]++
		}
	}
	if l.targetErr != nil {
		info.Problem = problem(l.targetErr)
	}
	return info, nil
}

// problem shows an error without what it wraps.
func problem(err error) string {
	for _, known := range []error{ErrTooLarge, ErrTargetGone, ErrTargetReplaced, ErrTargetUnusable, ErrBusy} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return ErrState.Error()
}

func (x *Set) used() time.Time {
	info, err := os.Lstat(filepath.Join(x.dir, identityFile))
	if err != nil {
		return x.Created
	}
	return info.ModTime()
}

// reap removes sets that nobody used for too long, and the traces of old ones.
func (s *Store) reap() {
	names, _ := s.names(s.sets()) // again next time
	for _, name := range names {
		s.expire(name)
	}
	traces, _ := os.ReadDir(s.expired())
	for _, e := range traces {
		if info, err := e.Info(); err == nil && s.now().Sub(info.ModTime()) > traceAge {
			_ = os.Remove(filepath.Join(s.expired(), e.Name())) // again next time
		}
	}
}

// leftover reports whether who made or removed a directory was killed at that.
func (s *Store) leftover(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && strings.HasPrefix(e.Name(), newPrefix) && s.now().Sub(info.ModTime()) > emptyAge
}

// expire removes a set if it is time.
func (s *Store) expire(name string) {
	dir := filepath.Join(s.sets(), name)
	alone, err := tryLock(dir, openLock, unix.LOCK_EX)
	if err != nil {
		return // somebody has it open
	}
	defer alone.release()
	info, err := os.Lstat(filepath.Join(dir, identityFile))
	unused := time.Duration(0)
	if err == nil {
		unused = s.now().Sub(info.ModTime())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && unused <= setAge && (unused <= emptyAge || !holdsNothing(dir)) {
		return
	}
	if err := os.WriteFile(filepath.Join(s.expired(), name), nil, 0o600); err != nil {
		s.log.Warn("a change set that is over cannot be removed", "error", err)
		return
	}
	removed := filepath.Join(s.sets(), newPrefix+"removed-"+name)
	if err := os.Rename(dir, removed); err == nil {
		s.drop(removed)
	}
}

func (s *Store) drop(dir string) {
	if err := tempdir.Remove(dir); err != nil {
		s.log.Warn("what is left of a change set cannot be removed", "error", err)
	}
}

// holdsNothing reports whether programs certainly left nothing in a set.
func holdsNothing(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, dataDir, "upper"))
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}
