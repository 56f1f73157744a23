package environments

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// Pruned is what [Store.Prune] did with environments that were not used for long.
type Pruned struct {
	Removed []Environment
	// InUse are those that a run has at this moment. They are left as they are.
	InUse []Environment
}

// Prune removes environments that no run has had for a time, and what nothing
// needs any more. When one was used is known to the hour.
func (s *Store) Prune(unused time.Duration) (pruned Pruned, err error) {
	s.Reap()
	if _, err := os.Stat(filepath.Join(s.Dir, usedDir)); err != nil {
		return pruned, ignoreMissing(err) // there was never any
	}
	// Of what is being made it is not known yet what it needs.
	alone, busy := s.lock(makingName, tryAlone)
	if busy == nil {
		defer alone()
	} else if !errors.Is(busy, errBusy) {
		return pruned, busy
	}
	all, err := s.List()
	if err != nil {
		return pruned, err
	}
	kept, tools := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		if time.Since(e.Used) >= unused {
			switch removeErr := s.removeUnused(e.name()); {
			case removeErr == nil:
				pruned.Removed = append(pruned.Removed, e)
				continue
			case errors.Is(removeErr, errBusy):
				pruned.InUse = append(pruned.InUse, e)
			default:
				err = errors.Join(err, removeErr)
			}
		}
		kept[e.name()], tools[e.UV] = true, true
	}
	if busy != nil {
		return pruned, err
	}
	return pruned, errors.Join(err, s.forget(kept), s.removeAll(usedDir, kept), s.removeAll(toolsDir, tools))
}

// Reap removes what processes that were killed have left unfinished.
func (s *Store) Reap() { tempdir.Reap(s.Dir, unfinished) }

// removeUnused removes an environment, or returns [errBusy] where a run has it.
func (s *Store) removeUnused(name string) error {
	release, err := s.lock(name, tryAlone)
	if err != nil {
		return err
	}
	defer release()
	if err := s.remove(name); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(filepath.Join(s.Dir, usedDir, name)))
}

// remove removes a directory of the store. It is gone at once.
func (s *Store) remove(name string) error {
	aside, err := tempdir.New(s.Dir, unfinished)
	if err != nil {
		return err
	}
	err = os.Rename(filepath.Join(s.Dir, name), filepath.Join(aside.Path(), "removed"))
	return errors.Join(ignoreMissing(err), aside.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// forget removes the records of environments that are not kept.
func (s *Store) forget(kept map[string]bool) (err error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, wantedDir))
	if err != nil {
		return ignoreMissing(err)
	}
	for _, entry := range entries {
		name := filepath.Join(s.Dir, wantedDir, entry.Name())
		var known record
		if readJSON(name, &known) != nil || !kept[strings.TrimPrefix(known.Key, keyPrefix)] {
			err = errors.Join(err, ignoreMissing(os.Remove(name)))
		}
	}
	return err
}

// removeAll removes what of a directory has the digest of nothing that is kept.
func (s *Store) removeAll(dir string, kept map[string]bool) (err error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, dir))
	if err != nil {
		return ignoreMissing(err)
	}
	for _, entry := range entries {
		if isDigest(entry.Name()) && !kept[entry.Name()] {
			err = errors.Join(err, s.remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}
