// Package audit keeps the audit log: one JSON line for each thing that a client
// or a user had skills-mcp do, and what came of it.
//
// The log is a directory: audit.jsonl, and what it was rotated to. Any number of
// processes of one user write to it; a lock in it lets one at a time write a line
// or rotate. A line is complete when [Log.Append] or [Entry.End] returns, and
// survives the end of the process, but is not forced to the disk: a crash of the
// machine can lose the last seconds.
//
// What has effects is recorded before it begins, by [Log.Begin], in a file of its
// own below running. Its line is written at its end, or where its process was
// killed before that, by the next one that opens the log.
//
// Trust: only the user and root can write to the directory, which is checked at
// each write; they can change what is in it too. What is recorded came from
// models and skills: it is cut, without control characters that a terminal would
// obey, and without what looks like a secret, which is a guess.
package audit

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Bounds of [Options], and what they default to.
const (
	defaultMaxBytes = 10 << 20
	minMaxBytes     = 64 << 10
	maxMaxBytes     = 1 << 30
	defaultMaxFiles = 5
	minMaxFiles     = 2
	maxMaxFiles     = 1000
)

// OnFailure is what becomes of what cannot be recorded.
type OnFailure string

// What can become of it.
const (
	// Fail has it fail: nothing is done, or its result is withheld.
	Fail OnFailure = "fail"
	// Continue logs the failure, and goes on.
	Continue OnFailure = "continue"
)

// Options are those of a log.
type Options struct {
	// Dir is the absolute path of its directory, which is made where it is not
	// there. Required.
	Dir string
	// MaxBytes is how long a file gets before it is rotated, from 64 KiB to 1 GiB.
	// If zero, it is 10 MiB.
	MaxBytes int64
	// MaxFiles is how many files there are at most, the one that is written
	// included, from 2 to 1000. The oldest are removed. If zero, it is 5.
	MaxFiles int
	// OnFailure says what becomes of what cannot be recorded. If empty, it is
	// [Fail].
	OnFailure OnFailure
	// Redact is called with every text that is recorded, and returns it without
	// the secrets that it knows. If nil, what only looks like a secret is left
	// out. It is called by several goroutines.
	Redact func(text string) string
	// Logger is told of what could not be recorded. If nil, nothing is logged.
	Logger *slog.Logger
}

// check fills in defaults, and refuses what is out of range.
func (o *Options) check() error {
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
	o.MaxFiles = cmp.Or(o.MaxFiles, defaultMaxFiles)
	o.OnFailure = cmp.Or(o.OnFailure, Fail)
	switch {
	case o.MaxBytes < minMaxBytes || o.MaxBytes > maxMaxBytes:
		return fmt.Errorf("audit: a file may have %d to %d bytes, not %d", minMaxBytes, maxMaxBytes, o.MaxBytes)
	case o.MaxFiles < minMaxFiles || o.MaxFiles > maxMaxFiles:
		return fmt.Errorf("audit: there may be %d to %d files, not %d", minMaxFiles, maxMaxFiles, o.MaxFiles)
	case o.OnFailure != Fail && o.OnFailure != Continue:
		return fmt.Errorf("audit: %q is none of %s, %s", o.OnFailure, Fail, Continue)
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return nil
}

// Log writes an audit log. It is safe for use by several goroutines.
type Log struct {
	opts   Options
	dir    directory
	server string

	mu      sync.Mutex // one turn at a time
	running running
	waiting turn
}

// Open opens a log, and adds the lines that killed processes left unwritten. An
// error means that nothing can be recorded there, or that the options are wrong;
// with [Continue] only the latter.
func Open(opts Options) (*Log, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	dir, err := newDirectory(opts.Dir)
	if err != nil {
		return nil, err
	}
	l := &Log{opts: opts, dir: dir, server: randomHex(4)}
	l.running = running{dir: dir.running(), server: l.server}
	if err := l.excluding(l.recover); err != nil {
		return l, l.failed("open", err)
	}
	return l, nil
}

// Append records what has no effects, or has had them: one line.
func (l *Log) Append(r Record) error {
	l.complete(&r)
	line, err := l.line(r)
	if err == nil {
		err = l.inTurn(line)
	}
	return l.failed("append", err)
}

// Entry is what was begun. Its End is called once.
type Entry struct {
	log    *Log
	record Record
	begun  bool // there is a file of it
}

// Begin records that something with effects is about to be done, which must not
// be done where there is an error. End records its end.
func (l *Log) Begin(r Record) (*Entry, error) {
	l.complete(&r)
	entry := &Entry{log: l, record: r}
	r.Outcome = Unfinished
	line, err := l.line(r)
	if err == nil {
		err = l.excluding(func() error { return l.running.add(r.ID, line) })
	}
	entry.begun = err == nil
	return entry, l.failed("begin", err)
}

// End writes the line of what was begun, as r has it, whose ID and Time are those
// of the beginning. An error means that the log still has it as [Unfinished].
func (e *Entry) End(r Record) error {
	r.ID, r.Time = e.record.ID, e.record.Time
	e.log.complete(&r)
	line, err := e.log.line(r)
	if err == nil {
		err = e.log.excluding(func() error {
			if err := e.log.append(line); err != nil || !e.begun {
				return err
			}
			return e.log.running.remove(r.ID)
		})
	}
	return e.log.failed("end", err)
}

// Close ends the log. What was begun and not ended is left as unfinished.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running.close()
}

// complete fills in what every record has.
func (l *Log) complete(r *Record) {
	r.Version, r.Server = Version, l.server
	if r.ID == "" {
		r.ID = randomHex(8)
	}
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	r.Time = r.Time.UTC()
}

// failed returns the error of what could not be recorded, unless that is to be
// gone on without.
func (l *Log) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	l.opts.Logger.Error("the audit log cannot be written", "doing", doing, "on-failure", l.opts.OnFailure, "error", err)
	if l.opts.OnFailure == Continue {
		return nil
	}
	return &Error{err}
}

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	bytes := make([]byte, n)
	_, _ = rand.Read(bytes) // never fails
	return hex.EncodeToString(bytes)
}
