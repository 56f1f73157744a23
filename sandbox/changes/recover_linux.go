package changes

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

// recover finishes or takes back the step at which a process was killed, of each
// journal. What it had not begun stays held.
func (s *Store) recover() {
	names, err := s.names(s.applied())
	if err != nil {
		return // Open has looked at the directory
	}
	for _, name := range names {
		if err := s.recoverApplied(name); err != nil {
			s.log.Warn("an apply that was interrupted cannot be completed now; it is tried again at the next start", "apply", applyPrefix+name, "error", err)
		}
	}
}

func (s *Store) recoverApplied(name string) error {
	dir := filepath.Join(s.applied(), name)
	alone, err := tryLock(dir, stateLock, unix.LOCK_EX)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		return nil // it goes on, or is gone
	}
	if err != nil {
		return err
	}
	defer alone.release()
	journals, err := filepath.Glob(filepath.Join(dir, "*"+journalSuffix))
	if err != nil {
		return err
	}
	for _, file := range journals {
		if err := s.recoverJournal(file); err != nil {
			return err
		}
	}
	if l, _, err := s.readApplied(name); err == nil && len(l.Done) > 0 {
		return nil
	}
	return s.forget(name) // nothing was done
}

func (s *Store) recoverJournal(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole == 0 {
		return os.Remove(file) // nothing was begun
	}
	l, err := steps.ParseJournal(data[:whole])
	if err != nil || l.End != nil {
		return err
	}
	target, err := openTarget(l.Begin.Target.Path, l.Begin.Root)
	if err != nil {
		return err
	}
	defer target.Close()
	journal, err := steps.ContinueJournal(file, int64(whole))
	if err != nil {
		return err
	}
	defer journal.Close()
	for _, step := range l.Steps {
		if l.Done[step.N] != nil || l.Skip[step.N] {
			continue
		}
		s.log.Info("completing what was interrupted", "path", step.Path, "step", string(step.Op))
		if err := steps.RecoverStep(target, step, l.Temps[step.N], journal); err != nil {
			return err
		}
	}
	return journal.Sync(steps.Line{End: &steps.End{Interrupted: true, When: s.now()}})
}

const (
	applyPrefix   = "ap-"
	journalSuffix = ".journal"
	applyJournal  = "apply" + journalSuffix
	undoneFile    = "undone.json"
	keptDir       = "kept"
)
