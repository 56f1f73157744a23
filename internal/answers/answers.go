// Package answers remembers what a user has allowed for always: "this version
// of this skill may do this". It keeps that in the user's state directory, where
// several servers share it.
//
// An answer holds for exactly one version of a skill in one directory and for
// exactly what was granted. It dies when the skill is seen in another version,
// and does not come back with the old one. Only files of this user that nobody
// else can write are believed; of a file that cannot be read nothing is
// remembered, so that the worst of faults is one more question.
package answers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"path/filepath"
	"slices"
	"time"
)

// Subject is what an answer is bound to. None of it is empty.
type Subject struct {
	// Skill is the skill's name, Root its directory on this machine, and Digest
	// its version.
	Skill  string `json:"skill"`
	Root   string `json:"root"`
	Digest string `json:"digest"`
	// Kind and Grant are what was granted, in a form that is equal for what is
	// the same.
	Kind  string `json:"kind"`
	Grant string `json:"grant"`
}

// complete reports whether there is enough to bind an answer to.
func (s Subject) complete() bool {
	return s.Skill != "" && s.Root != "" && s.Digest != "" && s.Kind != "" && s.Grant != ""
}

// id names an answer to people, and is the same for the same subject.
func (s Subject) id() string {
	hash := sha256.New()
	for _, part := range []string{s.Skill, s.Root, s.Digest, s.Kind, s.Grant} {
		sum := sha256.Sum256([]byte(part))
		hash.Write(sum[:])
	}
	return "grant-" + hex.EncodeToString(hash.Sum(nil)[:8])
}

// Answer is one that is remembered.
type Answer struct {
	ID string `json:"id"`
	Subject
	// Shown says in one line what was granted.
	Shown string    `json:"shown"`
	Given time.Time `json:"given"`
}

// maxAnswers bounds the answers that are kept. For one more the oldest goes.
const maxAnswers = 1000

// Options are what a store is made of.
type Options struct {
	// Dir is where the answers are kept. It is made, with
	// mode 0700, when there is something to keep.
	Dir string
	// Now is the clock. If nil, it is [time.Now].
	Now func() time.Time
	// Logger receives warnings. If nil, nothing is logged.
	Logger *slog.Logger
}

// Store keeps answers. It is safe for use by several goroutines and processes.
type Store struct {
	opts Options
	file file
}

// New returns the store of a directory. Nothing is read or made yet.
func New(opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	return &Store{opts: opts, file: fileIn(filepath.Clean(opts.Dir))}
}

// Find returns the answer about a subject, where there is one. What there is
// about the same skill in another version is forgotten for good.
func (s *Store) Find(subject Subject) (Answer, bool) {
	kept, err := s.file.read()
	if err != nil {
		s.warn(err)
		return Answer{}, false
	}
	if slices.ContainsFunc(kept, subject.outdates) {
		if err := s.file.update(func(kept []Answer) []Answer { return slices.DeleteFunc(kept, subject.outdates) }); err != nil {
			s.warn(err)
		}
	}
	at := slices.IndexFunc(kept, func(answer Answer) bool { return answer.Subject == subject && subject.complete() })
	if at < 0 {
		return Answer{}, false
	}
	return kept[at], true
}

// outdates reports whether an answer is about another version of the skill.
func (s Subject) outdates(answer Answer) bool {
	return answer.Skill == s.Skill && answer.Root == s.Root && s.Digest != "" && answer.Digest != s.Digest
}

// Remember keeps that a user allowed a subject, which shown describes in one
// line. It is an error that part of the subject is empty.
func (s *Store) Remember(subject Subject, shown string) (Answer, error) {
	if !subject.complete() {
		return Answer{}, errIncomplete
	}
	answer := Answer{ID: subject.id(), Subject: subject, Shown: shown, Given: s.opts.Now().UTC().Truncate(time.Second)}
	return answer, s.file.update(func(kept []Answer) []Answer {
		kept = slices.DeleteFunc(kept, func(old Answer) bool { return old.ID == answer.ID || subject.outdates(old) })
		kept = append(kept, answer)
		return kept[max(0, len(kept)-maxAnswers):]
	})
}

// List returns the answers that hold, the oldest first.
func (s *Store) List() ([]Answer, error) { return s.file.read() }

// Revoke forgets the answers that match, and returns them.
func (s *Store) Revoke(match func(Answer) bool) (revoked []Answer, err error) {
	err = s.file.update(func(kept []Answer) []Answer {
		revoked = nil
		return slices.DeleteFunc(kept, func(answer Answer) bool {
			if match(answer) {
				revoked = append(revoked, answer)
			}
			return match(answer)
		})
	})
	return revoked, err
}

// Clear forgets all answers, also where what holds them cannot be read.
func (s *Store) Clear() error { return s.file.remove() }

func (s *Store) warn(err error) {
	s.opts.Logger.Warn("what the user has allowed for always cannot be read, so nothing is remembered", "error", err)
}
