package environments

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// What is in the directory of a [Store].
const (
	wantedDir  = "wanted" // a file for what was wanted, by its digest: a [record]
	usedDir    = "used"   // an empty file for each environment, as old as its last use
	toolsDir   = "tools"  // programs that runs have with their environment
	lockDir    = "lock"   // of those that prepare the same
	unfinished = "unfinished-"
	// manifestName is the file of an environment that says what is in it. It is
	// written last.
	manifestName     = "environment.json"
	maxManifestBytes = 4 << 20
	// usedEvery is how exactly the last use is known.
	usedEvery = time.Hour
)

// formatVersion counts the forms that environments have had.
const formatVersion = "1"

// record says which environment was made for what was wanted.
type record struct {
	Key          string        `json:"key"`
	Interpreters []interpreter `json:"interpreters"`
}

// digest returns the digest of what is wanted on the machine of a store.
func (s *Store) digest(wanted Wanted) string {
	return digestOf("wanted "+formatVersion, s.Machine, wanted)
}

// digestOf returns the digest of values as JSON, in hexadecimal digits.
func digestOf(values ...any) string {
	encoded, err := json.Marshal(values)
	if err != nil {
		panic(err) // plain data
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// Find returns the environment for what is wanted, or [ErrNotPrepared].
func (s *Store) Find(wanted Wanted) (*Environment, error) {
	var known record
	if err := readJSON(filepath.Join(s.Dir, wantedDir, s.digest(wanted)), &known); err != nil {
		return nil, notThere(err)
	}
	if s.Machine == "local" && slices.ContainsFunc(known.Interpreters, interpreter.changed) {
		return nil, fmt.Errorf("%w for the interpreter that is there now", ErrNotPrepared)
	}
	found, err := s.load(known.Key)
	if err != nil {
		return nil, notThere(err)
	}
	s.touch(found)
	return found, nil
}

func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotPrepared
	}
	return fmt.Errorf("%w: %w", ErrNotPrepared, err)
}

// readJSON reads a file of ours.
func readJSON(name string, to any) error {
	file, err := os.OpenFile(name, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewDecoder(io.LimitReader(file, maxManifestBytes)).Decode(to)
}

// writeJSON writes a file of ours, as a whole or not at all.
func writeJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), unfinished)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // which is not there any more, or in the way of nothing
	}
	return err
}

// load returns the environment of a key.
func (s *Store) load(key string) (*Environment, error) {
	name, found := strings.CutPrefix(key, "sha256:")
	if !found || !isDigest(name) {
		return nil, fmt.Errorf("%q is no key", key)
	}
	dir := filepath.Join(s.Dir, name)
	var e Environment
	if err := readJSON(filepath.Join(dir, manifestName), &e); err != nil {
		return nil, err
	}
	e.Used = e.Made
	if info, err := os.Stat(filepath.Join(s.Dir, usedDir, name)); err == nil && info.ModTime().After(e.Made) {
		e.Used = info.ModTime()
	}
	e.describe(s.Dir, dir)
	for _, name := range e.Show {
		// A tool may have been taken for unused while its first environment was made.
		if _, err := os.Stat(name); err != nil {
			return nil, err
		}
	}
	return &e, nil
}

func isDigest(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2*sha256.Size
}

// describe sets what a run needs to have the environment.
func (e *Environment) describe(store, dir string) {
	e.Show, e.Env = []string{dir}, map[string]string{}
	if e.holds("python") {
		e.Show = append(e.Show, filepath.Join(store, toolsDir, e.UV))
		e.Path = append(e.Path, filepath.Join(dir, "bin"), filepath.Join(dir, "python", "bin"))
		e.Env["VIRTUAL_ENV"] = filepath.Join(dir, "python")
		e.Env["UV_OFFLINE"], e.Env["UV_PYTHON_DOWNLOADS"], e.Env["PIP_NO_INDEX"], e.Env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1", "never", "1", "1"
	}
	if e.holds("npm") {
		e.Path = append(e.Path, filepath.Join(dir, "nodebin"), filepath.Join(dir, "node", "bin"))
		e.Env["NODE_PATH"] = filepath.Join(dir, "node", "lib", "node_modules")
		e.Env["NODE_OPTIONS"] = "--require=" + nodeOption(filepath.Join(dir, "nodebin", "resolve.cjs"))
		e.Env["npm_config_prefix"], e.Env["npm_config_offline"], e.Env["npm_config_update_notifier"] = filepath.Join(dir, "node"), "true", "false"
	}
	slices.Sort(e.Show)
}

// nodeOption quotes a path as NODE_OPTIONS has it.
func nodeOption(name string) string {
	if !strings.ContainsAny(name, " \"\\") {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

func (e *Environment) holds(kind string) bool { return slices.Contains(e.Kinds, kind) }

// touch notes that the environment is used.
func (s *Store) touch(e *Environment) {
	now := time.Now()
	if now.Sub(e.Used) < usedEvery {
		return
	}
	name := filepath.Join(s.Dir, usedDir, strings.TrimPrefix(e.Key, "sha256:"))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|openflag.NoFollow, 0o644)
	if err == nil {
		err = errors.Join(file.Close(), os.Chtimes(name, now, now))
	}
	if err != nil {
		s.log().Debug("the use of an environment is not noted", "error", err)
	}
}

func (s *Store) log() *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Logger
}

// open makes the directories of the store. Programs of other users read there.
func (s *Store) open() error {
	for _, name := range []string{"", wantedDir, usedDir, toolsDir, lockDir} {
		if err := os.MkdirAll(filepath.Join(s.Dir, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// lock takes the lock of a name. It is waited for no longer than ctx lasts.
func (s *Store) lock(done <-chan struct{}, name string) (unlock func(), err error) {
	type answer struct {
		file *lockedfile.File
		err  error
	}
	taken := make(chan answer)
	go func() {
		file, err := lockedfile.OpenFile(filepath.Join(s.Dir, lockDir, name), os.O_RDWR|os.O_CREATE|openflag.NoFollow, 0o600)
		select {
		case taken <- answer{file, err}:
		case <-done:
			if err == nil {
				_ = file.Close() // nobody wants it any more
			}
		}
	}()
	select {
	case got := <-taken:
		if got.err != nil {
			return nil, got.err
		}
		return func() { _ = got.file.Close() }, nil
	case <-done:
		return nil, errors.New("waiting for another one that prepares the same was given up")
	}
}

// List returns all environments, those used last first.
func (s *Store) List() ([]Environment, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Environment
	for _, entry := range entries {
		if !isDigest(entry.Name()) {
			continue
		}
		e, err := s.load("sha256:" + entry.Name())
		if err != nil {
			e = &Environment{Key: "sha256:" + entry.Name()} // of no use, to be removed
		}
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Environment) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Key, b.Key)) })
	return all, nil
}

// Prune removes environments that no run has had for a time, and what nothing
// needs any more. It returns those that it removed. When one was used is known to
// the hour, and a program that runs with it loses what it has not read yet: unused
// should be longer than runs are.
func (s *Store) Prune(unused time.Duration) (removed []Environment, err error) {
	all, err := s.List()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	kept, tools := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		name := strings.TrimPrefix(e.Key, "sha256:")
		if time.Since(e.Used) < unused {
			kept[e.Key], tools[e.UV] = true, true
			continue
		}
		err = errors.Join(err, s.remove(name), ignoreMissing(os.Remove(filepath.Join(s.Dir, usedDir, name))))
		removed = append(removed, e)
	}
	return removed, errors.Join(err, s.forget(kept), s.removeTools(tools))
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
		if isDigest(entry.Name()) && (readJSON(name, &known) != nil || !kept[known.Key]) {
			err = errors.Join(err, ignoreMissing(os.Remove(name)))
		}
	}
	return err
}

// removeTools removes the programs that no environment has any more.
func (s *Store) removeTools(kept map[string]bool) (err error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, toolsDir))
	if err != nil {
		return ignoreMissing(err)
	}
	for _, entry := range entries {
		if isDigest(entry.Name()) && !kept[entry.Name()] {
			err = errors.Join(err, s.remove(filepath.Join(toolsDir, entry.Name())))
		}
	}
	return err
}

// interpreter is what packages are installed for.
type interpreter struct {
	// Path is where it is in the sandbox, without links.
	Path           string   `json:"path"`
	Version        string   `json:"version"`
	Implementation string   `json:"implementation"`
	Platform       string   `json:"platform"`
	Machine        string   `json:"machine"`
	Libc           []string `json:"libc,omitempty"`
	// Size and ModTime are those of the file at the same path of this machine, if
	// there is one.
	Size    int64     `json:"size,omitempty"`
	ModTime time.Time `json:"modTime,omitzero"`
}

// identity returns what packages depend on.
func (i interpreter) identity() interpreter {
	i.Size, i.ModTime = 0, time.Time{}
	return i
}

// seen returns the interpreter with what its file is like on this machine.
func (i interpreter) seen() interpreter {
	if info, err := os.Stat(i.Path); err == nil {
		i.Size, i.ModTime = info.Size(), info.ModTime()
	}
	return i
}

// changed reports that another file has taken the place of the interpreter.
func (i interpreter) changed() bool {
	now := i.seen()
	info, err := os.Stat(i.Path)
	return err != nil || info.Size() != i.Size || !now.ModTime.Equal(i.ModTime)
}

// Supported reports whether environments can be made on this system at all.
func Supported() bool { return runtime.GOOS == "linux" }
