// Package activated remembers which skills were activated in a session of a host,
// by their names alone, so that a server that is started again in that session can
// say so.
//
// It is kept in the user's state directory, by a digest of what names the session,
// and bounded in number and age. Whoever reads it believes no name that is not one
// of a skill that there is: at worst a model is told to activate a skill that it
// need not.
package activated

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/privatefile"
)

const (
	// maxSessions and maxAge bound the sessions that are remembered.
	maxSessions = 100
	maxAge      = 30 * 24 * time.Hour
	// maxNames bounds the skills of a session, and maxNameBytes their names.
	maxNames, maxNameBytes = 32, 256
	// maxFileBytes is more than so many sessions are.
	maxFileBytes = 4 << 20
)

// Options are what a store is made of.
type Options struct {
	// Dir is where it is kept. It is made, with mode 0700, when there is something to
	// keep.
	Dir string
	// Session names the session. It is not kept.
	Session string
	// Now is the clock. If nil, it is [time.Now].
	Now func() time.Time
	// Logger receives a warning where nothing can be remembered. If nil, nothing is
	// logged.
	Logger *slog.Logger
}

// Store remembers for one session. It is safe for use by several goroutines, and
// by several processes.
type Store struct {
	opts Options
	key  string
	file privatefile.File

	mu    sync.Mutex
	names []string // the newest last; nil until they are read
	read  bool
}

// session is one of the file, the longest unused first.
type session struct {
	Session string    `json:"session"`
	Names   []string  `json:"names"`
	Used    time.Time `json:"used"`
}

// New returns the store of a session. Nothing is read or made yet.
func New(opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	sum := sha256.Sum256([]byte(opts.Session))
	return &Store{opts: opts, key: hex.EncodeToString(sum[:]), file: privatefile.File{Dir: opts.Dir, Name: "activated.json", MaxBytes: maxFileBytes}}
}

// Names returns the skills that were activated in the session, the last one last.
func (s *Store) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnce()
	return slices.Clone(s.names)
}

// Add remembers that a skill was activated. What cannot be remembered is logged.
func (s *Store) Add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnce()
	if len(name) > maxNameBytes || slices.Contains(s.names, name) {
		return
	}
	s.names = newest(append(s.names, name))
	err := s.file.Locked(func(locked privatefile.Locked) error {
		all, err := parse(locked.Read())
		if err != nil {
			return err
		}
		encoded, err := json.Marshal(s.updated(all))
		if err != nil {
			return err
		}
		return locked.Write(append(encoded, '\n'))
	})
	if err != nil {
		s.opts.Logger.Warn("which skills were activated is not remembered", "error", err)
	}
}

// readOnce reads what earlier processes of the session left. The lock is held.
func (s *Store) readOnce() {
	if s.read {
		return
	}
	s.read = true
	all, err := parse(s.file.Read())
	if err != nil {
		s.opts.Logger.Warn("which skills were activated is not known", "error", err)
	}
	for _, each := range s.young(all) {
		if each.Session == s.key {
			s.names = newest(each.Names)
		}
	}
}

// updated returns sessions with this one, and without those that are too old or too
// many.
func (s *Store) updated(all []session) []session {
	own := session{Session: s.key, Used: s.opts.Now().UTC().Truncate(time.Second)}
	all = slices.DeleteFunc(s.young(all), func(each session) bool {
		if each.Session == s.key {
			own.Names = each.Names
		}
		return each.Session == s.key
	})
	for _, name := range s.names { // another process of the session may have added some
		if !slices.Contains(own.Names, name) {
			own.Names = append(own.Names, name)
		}
	}
	own.Names = newest(own.Names)
	all = append(all, own)
	return all[max(0, len(all)-maxSessions):]
}

func (s *Store) young(all []session) []session {
	oldest := s.opts.Now().Add(-maxAge)
	return slices.DeleteFunc(all, func(each session) bool { return each.Used.Before(oldest) })
}

func newest(names []string) []string { return names[max(0, len(names)-maxNames):] }

// parse returns what was read: nothing where there is no file, or none that was
// written here, which the next write replaces.
func parse(data []byte, err error) ([]session, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, privatefile.ErrTooLong) {
		return nil, nil
	}
	var all []session
	if err == nil && json.Unmarshal(data, &all) != nil {
		return nil, nil
	}
	return all, err
}
