package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// Prepare returns the environment for what is wanted, and makes it where it is
// not there. Two that want the same at once make it once. An error may be
// [ErrNoEgress], [ErrNoUV], [ErrTooLarge], [ErrHostile] or a [*StepError].
func (s *Store) Prepare(ctx context.Context, request Request) (*Environment, error) {
	switch {
	case request.Empty():
		return nil, errors.New("no packages are wanted")
	case !request.Backend.Info().Egress:
		return nil, ErrNoEgress
	case len(request.Python) > 0 && request.UV == "":
		return nil, ErrNoUV
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	wanted := s.digest(request.Wanted)
	unlock, err := s.lock(ctx.Done(), wanted)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if found, err := s.Find(request.Wanted); err == nil && request.ExcludeNewer == "" {
		return found, nil
	}
	work, err := s.begin(ctx, request)
	if err != nil {
		return nil, err
	}
	key, err := work.make()
	if err := errors.Join(err, work.close()); err != nil {
		return nil, err
	}
	if err := writeJSON(filepath.Join(s.Dir, wantedDir, wanted), record{Key: key, Interpreters: work.interpreters}); err != nil {
		return nil, err
	}
	return s.load(key)
}

// make returns the key of the environment, which it makes where there is none.
func (w *work) make() (key string, err error) {
	if err := w.resolve(); err != nil {
		return "", err
	}
	var identities []interpreter
	for i, found := range w.interpreters {
		w.interpreters[i] = found.seen()
		identities = append(identities, found.identity())
	}
	name := digestOf("environment "+formatVersion, w.store.Machine, identities, w.pythonLock, w.npmLock, w.uv)
	unlock, err := w.store.lock(w.ctx.Done(), name)
	if err != nil {
		return "", err
	}
	defer unlock()
	key = "sha256:" + name
	if _, err := w.store.load(key); err == nil {
		return key, nil
	}
	if err := w.install(); err != nil {
		return "", err
	}
	return key, w.keep(name)
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

// keep copies what was installed into the store, under its name only when all
// of it is there.
func (w *work) keep(name string) error {
	aside, err := tempdir.New(w.store.Dir, unfinished)
	if err != nil {
		return err
	}
	made, final := filepath.Join(aside.Path(), "made"), filepath.Join(w.store.Dir, name)
	err = w.fill(made, final)
	if err == nil {
		// What is there is of no use, or it would have been taken.
		if err = ignoreMissing(w.store.remove(name)); err == nil {
			err = os.Rename(made, final)
		}
	}
	return errors.Join(err, aside.Close())
}

// fill makes the directory of an environment that will have a path.
func (w *work) fill(dir, final string) error {
	w.say("Checking and copying what was installed")
	e := Environment{Key: "sha256:" + filepath.Base(final), Made: time.Now().UTC().Truncate(time.Second), UV: w.uv, Packages: w.packages()}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	c := collector{from: w.dir, bytes: w.store.maxBytes(), files: w.store.maxFiles()}
	if len(w.request.Python) > 0 {
		e.Kinds = append(e.Kinds, "python")
		if err := w.keepPython(&c, dir, final); err != nil {
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
	return writeJSON(filepath.Join(dir, manifestName), e)
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
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(filepath.Join(dir, name), mode) // whatever the umask is
}

// shellQuoted returns a text as a word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// sortedPackages sorts them by kind and name.
func sortedPackages(all []Package) []Package {
	slices.SortFunc(all, func(a, b Package) int { return strings.Compare(a.Kind+" "+a.Name, b.Kind+" "+b.Name) })
	return slices.Compact(all)
}

// tooLarge says which bound was met.
func (s *Store) tooLarge() error {
	return fmt.Errorf("%w: more than %d MiB or %d files", ErrTooLarge, s.maxBytes()>>20, s.maxFiles())
}
