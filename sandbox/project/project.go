// Package project finds the directories of the user that programs may work on,
// and makes what they see of them.
//
// [Find] and [Places.Share] say which directory is the project and which others
// are shared. Only the operator chooses, and never what would give away more
// than a project: each refusal is a [Refusal] with a rule and a sentence.
// [View] keeps the layer that hides secrets in such a directory, and [Identity]
// reads who the user is for git.
//
// Nothing is read from the environment: what it says is given.
package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// Off is the value of --project that turns the project off.
const Off = "off"

// Source is what named a project.
type Source string

// The sources, the first that has something to say wins.
const (
	Named   Source = "--project"
	Host    Source = "$CLAUDE_PROJECT_DIR"
	Root    Source = "roots/list"
	Working Source = "the working directory"
)

// Sources are what may name a project. Once one names a directory, the others
// are not asked, even where it is refused.
type Sources struct {
	// Named is the value of --project: a directory, [Off], or empty.
	Named string
	// Host is the value of $CLAUDE_PROJECT_DIR, or empty.
	Host string
	// Root is the file: URI of the only root that a client answered, or empty.
	Root string
	// Detect has the working directory name a project where it lies in a
	// version-controlled tree of this user: the top of the tree, without which
	// version control does not work. Off for servers that nobody started there.
	Detect bool
}

// Places are where things are on this machine.
type Places struct {
	// WorkingDir is absolute; relative paths begin there.
	WorkingDir string
	// Home is the user's home directory, where it is known.
	Home string
	// Own are the directories of this program: of its configuration, state and
	// temporary files. They need not be there.
	Own []string
	// Hidden and Protected judge a place on this machine, which is slash-separated
	// and has no leading slash, by the built-in rules, and return a phrase that
	// follows the path. Nothing is shared that lies in something hidden; and for
	// reading only what lies in something protected.
	Hidden, Protected func(path string) (reason string, yes bool)
}

// Find returns the project, a directory that programs may work on: its absolute,
// clean path without symbolic links. The error is a [*Refusal]: where nothing names
// a project its rule is [RuleNone], or [RuleOff].
func Find(from Sources, places Places) (string, error) {
	source, path := Named, from.Named
	switch {
	case from.Named == Off:
		return "", refuse(RuleOff, "", "is turned off by --project=off").from(Named)
	case from.Named != "":
	case from.Host != "":
		source, path = Host, from.Host
	case from.Root != "":
		source = Root
		var err error
		if path, err = fromURI(from.Root); err != nil {
			return "", refuse(RuleURI, from.Root, "is no file: URI of a directory on this machine").from(source)
		}
	case from.Detect:
		source = Working
		if path = topOfTree(realPath(places.WorkingDir)); path == "" {
			return "", refuse(RuleNone, places.WorkingDir,
				"is in no version-controlled tree of yours, so it is no project by itself; name one with --project").from(source)
		}
	default:
		return "", refuse(RuleNone, "", "is not named; use --project").from(Named)
	}
	real, err := places.directory(path)
	if err != nil {
		return "", err.from(source)
	}
	return real, nil
}

// fromURI returns the path of a file: URI.
func fromURI(text string) (string, error) {
	uri, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	if uri.Scheme != "file" || uri.Opaque != "" || uri.Host != "" && uri.Host != "localhost" || uri.RawQuery != "" || uri.Fragment != "" {
		return "", errors.New("no local file")
	}
	path := uri.Path
	if len(path) > 2 && path[2] == ':' && filepath.VolumeName(path[1:]) != "" {
		path = path[1:] // file:///C:/project
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return "", errors.New("not absolute")
	}
	return path, nil
}

// topOfTree returns the nearest directory at or above dir that version control
// calls the top, or nothing where there is none or it is another user's.
func topOfTree(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		for _, name := range []string{".git", ".hg", ".jj", ".svn"} {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err != nil || !info.IsDir() && !(name == ".git" && info.Mode().IsRegular()) {
				continue
			}
			if !filestat.Ours(info) {
				return ""
			}
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// directory returns the real path of a directory that may be shared.
func (p Places) directory(path string) (string, *Refusal) {
	real, info, refusal := p.resolve(path)
	switch {
	case refusal != nil:
		return "", refusal
	case !info.IsDir():
		return "", refuse(RuleNoDirectory, path, "is no directory")
	}
	if refusal := p.refused(real, true); refusal != nil {
		return "", refusal
	}
	if refusal := usable(real); refusal != nil {
		return "", refusal
	}
	return real, p.protected(real)
}

// resolve returns the real path of something, and what is there.
func (p Places) resolve(path string) (real string, info fs.FileInfo, refusal *Refusal) {
	full, refusal := p.expand(path)
	if refusal != nil {
		return "", nil, refusal
	}
	real, err := filepath.EvalSymlinks(full)
	if err == nil {
		info, err = os.Lstat(real)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, refuse(RuleMissing, path, "is not there")
	case err != nil:
		return "", nil, refuse(RuleUnreadable, path, "cannot be read by this user")
	case !utf8.ValidString(real):
		return "", nil, refuse(RuleUnreadable, path, "has a path that is no UTF-8, in which no client could name it")
	}
	return real, info, nil
}

// expand makes a path absolute.
func (p Places) expand(path string) (string, *Refusal) {
	rest, inHome := strings.CutPrefix(path, "~")
	switch {
	case path == "":
		return "", refuse(RuleMissing, path, "has no path")
	case strings.ContainsRune(path, 0):
		return "", refuse(RuleMissing, path, "is no path")
	case inHome && rest != "" && !os.IsPathSeparator(rest[0]):
		return "", refuse(RuleMissing, path, "is another user's home directory, or a name that begins with ~; write ./ before it")
	case inHome && p.Home == "":
		return "", refuse(RuleMissing, path, "is in a home directory that is not known")
	case inHome:
		return filepath.Join(p.Home, rest), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case !filepath.IsAbs(p.WorkingDir):
		return "", refuse(RuleMissing, path, "is relative, and the working directory is not known")
	}
	return filepath.Join(p.WorkingDir, path), nil
}

// usable refuses directories that cannot be listed, and git's own.
func usable(dir string) *Refusal {
	file, err := os.Open(dir)
	if err != nil {
		return refuse(RuleUnreadable, dir, "cannot be read by this user")
	}
	defer file.Close()
	if _, err := file.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return refuse(RuleUnreadable, dir, "cannot be read by this user")
	}
	if slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".git") || isGitDirectory(dir) {
		return refuse(RuleGitDirectory, dir, "is a git directory, without files to work on; name a checkout of it")
	}
	return nil
}

// isGitDirectory reports whether git would take a directory for a repository.
func isGitDirectory(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// refused refuses what must not be shared wherever it is named. What a directory
// holds counts too; a file holds nothing.
func (p Places) refused(real string, directory bool) *Refusal {
	if directory && filepath.Dir(real) == real {
		return refuse(RuleTop, real, "is the whole file system")
	}
	if home := realPath(p.Home); directory && p.Home != "" && within(home, real) {
		return refuse(RuleHome, real, "is your home directory or holds it; name a directory in it")
	}
	for _, own := range p.Own {
		if own = realPath(own); within(real, own) || directory && within(own, real) {
			return refuse(RuleOwn, real, "holds, or is held by, what skills-mcp keeps for itself")
		}
	}
	if isSystem(real) {
		return refuse(RuleSystem, real, "belongs to the system")
	}
	if p.Hidden != nil {
		if reason, hidden := p.Hidden(relative(real)); hidden {
			return refuse(RuleHidden, real, "is hidden from programs: it, or a directory above it, "+reason)
		}
	}
	return nil
}

// within reports whether a real path is, or lies in, a directory, which may be
// mounted at another path too.
func within(path, dir string) bool {
	if pathname.Within(path, dir) {
		return true
	}
	is, err := os.Lstat(dir)
	if err != nil || !is.IsDir() {
		return false
	}
	for {
		if info, err := os.Lstat(path); err == nil && os.SameFile(info, is) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// protected refuses what lies in something that must not change.
func (p Places) protected(real string) *Refusal {
	if p.Protected == nil {
		return nil
	}
	if reason, protected := p.Protected(relative(real)); protected {
		return refuse(RuleProtected, real, "is protected from changes: it, or a directory above it, "+reason+
			"; it can only be shared for reading, with --share PATH:read")
	}
	return nil
}

// relative returns an absolute path as one that rules can judge.
func relative(path string) string {
	return strings.TrimPrefix(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
}

// realPath returns a path without symbolic links, as far as it is there.
func realPath(path string) string {
	if path == "" {
		return ""
	}
	for head, tail := filepath.Clean(path), ""; ; {
		if real, err := filepath.EvalSymlinks(head); err == nil {
			return filepath.Join(real, tail)
		}
		parent := filepath.Dir(head)
		if parent == head {
			return path
		}
		tail = filepath.Join(filepath.Base(head), tail)
		head = parent
	}
}

// Refusal says why a directory is not shared.
type Refusal struct {
	Rule Rule
	// Source is what named it, empty for shares.
	Source Source
	// Path is what was named, or its real path; it may be empty.
	Path string
	// Reason follows the path.
	Reason string
}

// Error returns a sentence for the operator, with the path.
func (r *Refusal) Error() string {
	what := "the project"
	if r.Path != "" {
		what = r.Path
	}
	if r.Source != "" && r.Path != "" {
		what = fmt.Sprintf("%s (from %s)", what, r.Source)
	}
	return what + " " + r.Reason
}

func (r *Refusal) from(source Source) *Refusal {
	r.Source = source
	return r
}

func refuse(rule Rule, path, reason string) *Refusal {
	return &Refusal{Rule: rule, Path: path, Reason: reason}
}

// Rule is why a directory is refused. They are stable.
type Rule string

// The rules.
const (
	RuleNone         Rule = "none"          // nothing names a project
	RuleOff          Rule = "off"           // it was turned off
	RuleURI          Rule = "uri"           // a root is no file: URI
	RuleMissing      Rule = "missing"       // there is nothing
	RuleUnreadable   Rule = "unreadable"    // this user cannot read it
	RuleNoDirectory  Rule = "no-directory"  // it is a file, or for shares neither
	RuleTop          Rule = "top"           // the whole file system
	RuleHome         Rule = "home"          // the home directory, or above it
	RuleSystem       Rule = "system"        // a directory of the system
	RuleOwn          Rule = "own"           // our own directories, in it or around it
	RuleHidden       Rule = "hidden"        // in what is hidden from programs
	RuleProtected    Rule = "protected"     // in what no program may change
	RuleGitDirectory Rule = "git-directory" // a repository without its files
	RuleAccess       Rule = "access"        // there is no such access
	RuleOverlap      Rule = "overlap"       // one share lies in another
	RuleTooLarge     Rule = "too-large"     // more files than can be looked through
)
