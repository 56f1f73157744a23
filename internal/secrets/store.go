// Package secrets reads the values of secrets from where the user keeps them: a
// variable of the server's environment, a file, a program such as pass or op,
// the system's keyring.
//
// A value is read when it is needed, and is in memory only. What variables and
// files hold is read each time. What programs and keyrings say, which may ask the
// user, is kept for a while, [Options.Keep], and any number of runs that want
// it at once have it read once.
//
// Every value that is returned is known to the [redact.Set] before, which keeps
// it for as long as the process lives.
//
// Trust: sources are the user's own, from a configuration that no project and no
// skill can write. Programs that they name run as the server does, outside of
// any sandbox.
package secrets

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/skills-mcp/skills-mcp/internal/redact"
)

const (
	// DefaultKeep is how long values are kept that programs and keyrings said.
	DefaultKeep = 15 * time.Minute
	// DefaultTimeout is how long a source may take, in which it can ask the user.
	DefaultTimeout = 30 * time.Second
)

// Options are those of a store.
type Options struct {
	// Redact is told of every value before it is returned. Required.
	Redact *redact.Set
	// Keep is how long values of programs and keyrings are kept. If zero, it is
	// [DefaultKeep]; if negative, they are read each time.
	Keep time.Duration
	// Timeout is how long a source may take. If zero, it is [DefaultTimeout].
	Timeout time.Duration
	// Logger is told of files that others can read. If nil, nothing is logged.
	Logger *slog.Logger
}

// Store reads values. It is safe for use by several goroutines.
type Store struct {
	opts    Options
	key     [32]byte // of placeholders
	reading singleflight.Group
	ctx     context.Context // ends with the store
	cancel  context.CancelFunc

	mu     sync.Mutex
	kept   map[Source]*kept
	warned map[Source]bool
}

// kept is a value that is kept, until its timer has it forgotten.
type kept struct {
	value string
	timer *time.Timer
}

// New returns a store, which the caller closes.
func New(opts Options) *Store {
	opts.Keep = cmp.Or(opts.Keep, DefaultKeep)
	opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	s := &Store{opts: opts, key: newKey(), kept: map[Source]*kept{}, warned: map[Source]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Value returns the value of the secret of that name: text in UTF-8 of
// [redact.MinBytes] to [MaxBytes] bytes, without control characters. The end of a
// line at its end is taken off where it is from a file or a program. An error is
// an [*Error], or that of the context.
func (s *Store) Value(ctx context.Context, name string, source Source) (string, error) {
	value, known := s.lookup(source)
	if !known {
		result := s.reading.DoChan(source.String(), func() (any, error) { return s.read(source) })
		waiting, stop := context.WithTimeout(ctx, s.opts.Timeout+killGrace)
		defer stop()
		select {
		case got := <-result:
			value, _ = got.Val.(string)
			if got.Err != nil {
				return "", failed(name, source, got.Err)
			}
		case <-waiting.Done():
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "", failed(name, source, errTimeout)
		}
	}
	s.opts.Redact.Add(name, value)
	return value, nil
}

// failed says whose fault it is.
func failed(name string, source Source, err error) error {
	fault, ok := errors.AsType[*fault](err)
	if !ok {
		fault = errUnreadable
	}
	return &Error{Code: fault.code, Name: name, Kind: source.Kind(), Reason: fault.reason, Hint: fault.hint}
}

// read reads a value, whoever waits for it, and keeps it where that is wanted.
func (s *Store) read(source Source) (string, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.Timeout)
	defer cancel()
	var value string
	var err error
	switch source.kind {
	case environment:
		value, err = readVariable(source.text)
	case file:
		value, err = s.readFile(source)
	case command:
		value, err = readCommand(ctx, source.text)
	case keyring:
		value, err = readKeyring(source.text)
	default:
		err = errUnreadable
	}
	if err == nil {
		err = check(value)
	}
	if err != nil {
		return "", err
	}
	if (source.kind == command || source.kind == keyring) && s.opts.Keep > 0 {
		s.keep(source, value)
	}
	return value, nil
}

func (s *Store) lookup(source Source) (value string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.kept[source]; kept != nil {
		return kept.value, true
	}
	return "", false
}

func (s *Store) keep(source Source, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	mine := &kept{value: value}
	mine.timer = time.AfterFunc(s.opts.Keep, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.kept[source] == mine {
			delete(s.kept, source)
		}
	})
	s.kept[source] = mine
}

// Close forgets all values, and kills the programs that are being asked.
func (s *Store) Close() error {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kept := range s.kept {
		kept.timer.Stop()
	}
	clear(s.kept)
	return nil
}
