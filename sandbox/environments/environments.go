// Package environments makes and finds the packages that programs of a skill
// import: a directory for each set of packages, read-only for programs, of
// which every file came from an index by a lock with hashes.
//
// What decides which packages are installed, what downloads and unpacks them
// runs in a sandbox of [sandbox.Backend] that reaches the index and nothing else.
// What comes out of there is checked and copied, file by file, before any
// program sees it.
package environments

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// Defaults of a [Store] and of a [Request].
const (
	DefaultMaxBytes     = 2 << 30
	DefaultMaxFiles     = 200_000
	DefaultIndexTimeout = 30 * time.Second
)

// Store keeps environments. Its methods may be called from several goroutines
// and processes at once.
type Store struct {
	// Dir holds the environments. It is made where it is missing, so that other
	// users can pass through it; see [Dir].
	Dir string
	// Machine says where programs run, as [MachineOf] has it: an environment is for
	// one of them.
	Machine string
	// MaxBytes and MaxFiles bound one environment. Default [DefaultMaxBytes] and
	// [DefaultMaxFiles].
	MaxBytes int64
	MaxFiles int
	// Logger may be nil.
	Logger *slog.Logger
}

// MachineOf returns the [Store.Machine] of a backend: its name, and the identity of
// the image that its programs are of, if any.
func MachineOf(backend sandbox.Backend) string {
	info := backend.Info()
	return strings.TrimSpace(info.Backend + " " + info.Image)
}

// Dir returns the directory of this user's environments, below $XDG_CACHE_HOME.
func Dir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "skills-mcp", "environments"), nil
}

// Wanted is what an environment is to hold.
type Wanted struct {
	// Python are requirements of PEP 508, and Npm packages "name@range"; sorted,
	// each once.
	Python, Npm []string
	// RequiresPython are the versions of Python that are asked for, such as ">=3.11".
	RequiresPython []string
	// Hashes are, by the text of a requirement of Python, the hashes one of which
	// its files must have: "sha256:" and hexadecimal digits.
	Hashes map[string][]string
	// NpmManifest and NpmLock are the package.json and package-lock.json whose
	// versions are installed; nil where the newest of Npm are.
	NpmManifest, NpmLock []byte
}

// Empty reports whether nothing is wanted.
func (w Wanted) Empty() bool { return len(w.Python)+len(w.Npm) == 0 }

// Environment is a set of packages that is there.
type Environment struct {
	// Key is "sha256:" and the digest of the file lock.json of the environment: of
	// what is installed, by its hashes, and of what it was installed for.
	Key string `json:"key"`
	// Made is when, and Used about when a run last had it.
	Made time.Time `json:"made"`
	Used time.Time `json:"used"`
	// Bytes and Files are what it holds.
	Bytes    int64     `json:"bytes"`
	Files    int       `json:"files"`
	Packages []Package `json:"packages"`
	// Kinds are "python" and "npm", those that it was made for.
	Kinds []string `json:"kinds"`
	// UV is the digest of the program uv that runs have with it, or empty.
	UV string `json:"uv,omitempty"`

	// Show, Path and Env are what a [sandbox.Spec] needs for programs to have it.
	Show []string          `json:"-"`
	Path []string          `json:"-"`
	Env  map[string]string `json:"-"`

	store *Store
}

// keyPrefix begins every key.
const keyPrefix = "sha256:"

// name is what the environment is called in its store.
func (e *Environment) name() string { return strings.TrimPrefix(e.Key, keyPrefix) }

// Package is one that is installed.
type Package struct {
	// Kind is "python" or "npm".
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Request is an environment to be made.
type Request struct {
	Wanted
	// Backend runs what makes it; its programs are those that will have it.
	Backend sandbox.Backend
	// Egress returns where the connections of one run lead: the hosts of Indexes
	// and no others. EgressEnv are the variables that tell programs of it.
	Egress    func() (sandbox.Egress, error)
	EgressEnv map[string]string
	Indexes   Indexes
	// UV is the path of the program uv on this machine, or empty; see [FindUV].
	UV string
	// Certificates is the path of a file with the certificates that indexes are
	// trusted by, or empty for those of the sandbox.
	Certificates string
	// Workspaces is where it is made.
	Workspaces *workspaces.Store
	// ExcludeNewer leaves out what was published later: a date or time that uv
	// understands, or empty.
	ExcludeNewer string
	// IndexTimeout is how long an index may keep silent. Default
	// [DefaultIndexTimeout].
	IndexTimeout time.Duration
	// Progress, if set, is called with what is being done.
	Progress func(line string)
	// Agree, if set, is called with all packages that the environment has or would
	// have, before they are installed. Its error is what Prepare returns, and
	// nothing is installed then.
	Agree func(all []Package) error
}
