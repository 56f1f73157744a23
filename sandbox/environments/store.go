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
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// What is in the directory of a [Store], besides a directory for each environment.
const (
	wantedDir  = "wanted" // a file for what was wanted, by its digest: a [record]
	usedDir    = "used"   // the files of [Store.lock]
	toolsDir   = "tools"  // programs that runs have with their environment
	unfinished = "unfinished-"
	// manifestName is the file of an environment that says what is in it. It is
	// written last.
	manifestName     = "environment.json"
	lockName         = "lock.json" // a [lock]
	maxManifestBytes = 4 << 20
)

// formatVersion counts the forms that environments have had.
const formatVersion = "2"

// record says which environment was made for what was wanted.
type record struct {
	Key          string        `json:"key"`
	Interpreters []interpreter `json:"interpreters"`
}

// lock is what an environment is made of and for, of which its key is the digest.
type lock struct {
	Format       string        `json:"format"`
	Machine      string        `json:"machine"`
	Interpreters []interpreter `json:"interpreters"`
	// Python are requirements with hashes, and Npm is a package-lock.json.
	Python string `json:"python,omitempty"`
	Npm    string `json:"npm,omitempty"`
	// UV is the digest of the program uv that runs have.
	UV string `json:"uv,omitempty"`
}

// recordOf returns where the record is of what is wanted on the machine of a store.
func (s *Store) recordOf(wanted Wanted) string {
	return filepath.Join(wantedDir, digestOf(encoded("wanted "+formatVersion, s.Machine, wanted)))
}

// encoded returns values as JSON.
func encoded(values ...any) []byte {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // plain data
	}
	return text
}

// digestOf returns the digest of a text in hexadecimal digits.
func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Find returns the environment for what is wanted, or [ErrNotPrepared].
func (s *Store) Find(wanted Wanted) (*Environment, error) {
	var known record
	if err := readJSON(filepath.Join(s.Dir, s.recordOf(wanted)), &known); err != nil {
		return nil, notThere(err)
	}
	if s.Machine == "local" && slices.ContainsFunc(known.Interpreters, interpreter.changed) {
		return nil, fmt.Errorf("%w for the interpreter that is there now", ErrNotPrepared)
	}
	found, err := s.load(known.Key)
	if err != nil {
		return nil, notThere(err)
	}
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

// writeJSON writes a new file of ours.
func writeJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return writeFile(name, append(text, '\n'), 0o644)
}

// writeFile writes a file with these rights, whatever the umask is.
func writeFile(name string, text []byte, mode fs.FileMode) error {
	if err := os.WriteFile(name, text, mode); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}

// place has something made aside, and gives it its name in the store only when all
// of it is there: what a process that was killed has left is under no such name.
func (s *Store) place(name string, make func(path string) error) error {
	aside, err := tempdir.New(s.Dir, unfinished)
	if err != nil {
		return err
	}
	made := filepath.Join(aside.Path(), "made")
	if err = make(made); err == nil {
		err = os.Rename(made, filepath.Join(s.Dir, name))
	}
	return errors.Join(err, aside.Close())
}

// load returns the environment of a key.
func (s *Store) load(key string) (*Environment, error) {
	name, found := strings.CutPrefix(key, keyPrefix)
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
	e.store = s
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

func (s *Store) log() *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Logger
}

// open makes the directories of the store. Programs of other users read there.
func (s *Store) open() error {
	for _, name := range []string{"", wantedDir, usedDir, toolsDir} {
		if err := os.MkdirAll(filepath.Join(s.Dir, name), 0o755); err != nil {
			return err
		}
	}
	return nil
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
		e, err := s.load(keyPrefix + entry.Name())
		if err != nil {
			e = &Environment{Key: keyPrefix + entry.Name()} // of no use, to be removed
		}
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Environment) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Key, b.Key)) })
	return all, nil
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
