package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Prepare returns the environment for what is wanted, and makes it where it is
// not there. Two that want the same at once install it once. An error may be
// [ErrNoEgress], [ErrNoUV], [ErrTooLarge], [ErrNoSpace], [ErrHostile], a
// [*MissingError] or a [*StepError].
func (s *Store) Prepare(ctx context.Context, request Request) (*Environment, error) {
	switch {
	case request.Empty():
		return nil, errors.New("no packages are wanted")
	case !request.Backend.Info().Egress:
		return nil, ErrNoEgress
	case len(request.Python) > 0 && request.UV == "":
		return nil, ErrNoUV
	}
	if found, err := s.Find(request.Wanted); err == nil && request.ExcludeNewer == "" {
		return found, request.agree(found.Packages)
	}
	made, err := s.prepare(ctx, request)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return made, err
}

func (s *Store) prepare(ctx context.Context, request Request) (*Environment, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	release, err := s.lock(makingName, waiting(ctx, tryShared))
	if err != nil {
		return nil, err
	}
	defer release()
	work, err := s.begin(ctx, request)
	if err != nil {
		return nil, err
	}
	made, err := work.make()
	return made, errors.Join(err, work.close())
}

// indexTimeout returns the IndexTimeout in whole seconds.
func (r Request) indexTimeout() string {
	if r.IndexTimeout <= 0 {
		r.IndexTimeout = DefaultIndexTimeout
	}
	return strconv.Itoa(max(1, int(r.IndexTimeout.Seconds())))
}

func (r Request) agree(all []Package) error {
	if r.Agree == nil {
		return nil
	}
	return r.Agree(all)
}

// make returns the environment, which it makes where there is none with that lock.
func (w *work) make() (*Environment, error) {
	if err := w.resolve(); err != nil {
		return nil, err
	}
	if err := w.request.agree(w.packages(true)); err != nil {
		return nil, err
	}
	for i, found := range w.interpreters {
		w.interpreters[i] = found.seen()
		w.lock.Interpreters = append(w.lock.Interpreters, found.identity())
	}
	w.name = digestOf(encoded(w.lock))
	// Another one that makes it is waited for, one that uses it is not.
	made, err := w.locked(tryShared, w.known)
	if errors.Is(err, ErrNotPrepared) {
		made, err = w.locked(tryAlone, func() (*Environment, error) {
			if made, err := w.known(); err == nil {
				return made, nil
			}
			if err := errors.Join(w.install(), w.store.remove(w.name)); err != nil {
				return nil, err
			}
			if err := w.store.place(w.name, w.fill); err != nil {
				return nil, err
			}
			return w.known()
		})
	}
	return made, err
}

// locked does something with the environment's lock.
func (w *work) locked(try func(*flock.Flock) (bool, error), do func() (*Environment, error)) (*Environment, error) {
	release, err := w.store.lock(w.name, waiting(w.ctx, try))
	if err != nil {
		return nil, err
	}
	defer release()
	return do()
}

// known records that what is wanted is the environment, if there is one.
func (w *work) known() (*Environment, error) {
	found, err := w.store.load(keyPrefix + w.name)
	if err != nil {
		return nil, notThere(err)
	}
	name := w.store.recordOf(w.request.Wanted)
	return found, w.store.place(name, func(path string) error {
		return writeJSON(path, record{Key: found.Key, Interpreters: w.interpreters})
	})
}

// resolve decides which packages are installed.
func (w *work) resolve() error {
	if len(w.request.Python) > 0 {
		if err := w.resolvePython(); err != nil {
			return err
		}
	}
	if len(w.request.Npm) > 0 {
		return w.resolveNpm()
	}
	return nil
}

// install downloads and unpacks them.
func (w *work) install() error {
	if len(w.request.Python) > 0 {
		if err := w.installPython(); err != nil {
			return err
		}
	}
	if len(w.request.Npm) > 0 {
		return w.installNpm()
	}
	return nil
}

// fill makes the directory of the environment.
func (w *work) fill(dir string) error {
	w.say("Checking and copying what was installed")
	e := Environment{Key: keyPrefix + w.name, Made: time.Now().UTC().Truncate(time.Second), UV: w.lock.UV, Packages: w.packages(false)}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	c := collector{from: w.dir, bytes: w.store.maxBytes(), files: w.store.maxFiles(), full: w.store.tooLarge()}
	if len(w.request.Python) > 0 {
		e.Kinds = append(e.Kinds, "python")
		if err := w.keepPython(&c, dir); err != nil {
			return err
		}
	}
	if len(w.request.Npm) > 0 {
		e.Kinds = append(e.Kinds, "npm")
		if err := w.keepNpm(&c, dir); err != nil {
			return err
		}
	}
	e.Bytes, e.Files = w.store.maxBytes()-c.bytes, w.store.maxFiles()-c.files
	return errors.Join(writeFile(filepath.Join(dir, lockName), encoded(w.lock), 0o644), writeJSON(filepath.Join(dir, manifestName), e))
}

func (s *Store) maxBytes() int64 {
	if s.MaxBytes > 0 {
		return s.MaxBytes
	}
	return DefaultMaxBytes
}

func (s *Store) maxFiles() int {
	if s.MaxFiles > 0 {
		return s.MaxFiles
	}
	return DefaultMaxFiles
}

// writeShim writes one of the programs that stand in for installers.
func writeShim(dir, name, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, name), []byte(text), mode)
}

// shellQuoted returns a text as a word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// sortedPackages sorts them by kind and name.
func sortedPackages(all []Package) []Package {
	slices.SortFunc(all, func(a, b Package) int {
		return strings.Compare(a.Kind+" "+a.Name+" "+a.Version, b.Kind+" "+b.Name+" "+b.Version)
	})
	return slices.Compact(all)
}

// tooLarge says which bound was met.
func (s *Store) tooLarge() error {
	return fmt.Errorf("%w: more than %d MiB or %d files", ErrTooLarge, s.maxBytes()>>20, s.maxFiles())
}
