package needs

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Bounds of what is read of a skill, and of what is told of it.
const (
	maxFiles        = 1000
	maxDepth        = 8
	maxFileBytes    = 256 << 10
	maxBytes        = 8 << 20
	maxRequirements = 200 // of each index
	maxGathered     = 800 // of each kind, of which those are taken
	maxHashes       = 500 // of each requirement
	maxHints        = 64  // of each kind
	maxNotes        = 32
	maxSources      = 3 // of each thing
)

// entryName is the file that makes a directory a skill.
const entryName = "SKILL.md"

// finder gathers what files ask for.
type finder struct {
	skill fs.FS
	left  int // bytes that may still be read
	found Needs
	// local are the names by which programs could import the skill's own modules.
	local map[string]bool
	// included are the files of requirements that were read.
	included map[string]bool
	// declared are what files that are for it state, and inferred what programs
	// and texts show.
	declaredPython, inferredPython gathered
	declaredNpm, inferredNpm       gathered
	// projects and manifests count the files that declare what all programs need.
	projects, manifests int
}

// list returns the skill's files, without those of skills in it, those of tools
// and those of tests.
func (f *finder) list() (files []string, err error) {
	f.left, f.local, f.included = maxBytes, map[string]bool{}, map[string]bool{}
	err = fs.WalkDir(f.skill, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil || !utf8.ValidString(name):
			return skipped(entry)
		case entry.IsDir():
			return f.enter(name)
		case !entry.Type().IsRegular() || ignored.Name(path.Base(name)):
			return nil
		case len(files) == maxFiles:
			f.note(Source{}, fmt.Sprintf("only the first %d files were looked at", maxFiles))
			return fs.SkipAll
		}
		files = append(files, name)
		for _, module := range ModuleNames(name) {
			f.local[module] = true
		}
		return nil
	})
	return files, err
}

// skipped leaves a directory out, or nothing.
func skipped(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// enter reports whether a directory is looked into.
func (f *finder) enter(name string) error {
	if name == "." {
		return nil
	}
	base := path.Base(name)
	if ignored.Directory(base) || base == "tests" || base == "test" || strings.Count(name, "/") >= maxDepth {
		return fs.SkipDir
	}
	if _, err := fs.Stat(f.skill, path.Join(name, entryName)); err == nil {
		return fs.SkipDir // that one's matter
	}
	return nil
}

// ModuleNames returns the names by which programs could import what a file is as a
// module of Python, wherever they look for it; none where it is no module.
func ModuleNames(file string) []string {
	if !slices.Contains([]string{".py", ".so", ".pyd"}, path.Ext(file)) {
		return nil
	}
	names := strings.Split(file, "/")
	last := &names[len(names)-1]
	*last, _, _ = strings.Cut(*last, ".")
	return names
}

// open returns the text of a file, or notes why it is not read.
func (f *finder) open(name string) (string, bool) {
	// What is opened may wait, if it is no file.
	if info, err := fs.Lstat(f.skill, name); err != nil || !info.Mode().IsRegular() {
		f.note(Source{File: name}, "it cannot be read")
		return "", false
	}
	file, err := f.skill.Open(name)
	if err != nil {
		f.note(Source{File: name}, "it cannot be read")
		return "", false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(min(maxFileBytes, f.left))+1))
	switch {
	case err != nil:
		f.note(Source{File: name}, "it cannot be read")
		return "", false
	case len(text) > maxFileBytes:
		f.note(Source{File: name}, fmt.Sprintf("it has more than %d KiB", maxFileBytes>>10))
		return "", false
	case len(text) > f.left:
		f.note(Source{File: name}, fmt.Sprintf("more than %d MiB of files were read before it", maxBytes>>20))
		return "", false
	}
	f.left -= len(text)
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return strings.ReplaceAll(string(bytes.ToValidUTF8(text, []byte("\ufffd"))), "\r\n", "\n"), true
}

// read reads files: those that declare what is needed before all others.
func (f *finder) read(files []string) {
	for _, name := range files {
		switch base := path.Base(name); {
		case isRequirements(base):
			f.readRequirements(name)
		case base == "pyproject.toml":
			f.readProject(name)
		case base == "package.json":
			f.readManifest(name)
		}
	}
	for _, name := range files {
		switch ext := path.Ext(name); {
		case ext == ".md" || ext == ".markdown":
			f.readMarkdown(name)
		case forOthers(name): // such as templates
		case ext == ".py":
			f.readPython(name)
		case slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx"}, ext):
			f.readJavaScript(name)
		case slices.Contains([]string{".sh", ".bash", ".rb", ".pl", ".php", ".lua", ".R"}, ext):
			f.readScript(name)
		case ext == "":
			f.readUnnamed(name)
		}
	}
}

// forOthers reports whether a script lies where a skill keeps what its own
// programs do not start.
func forOthers(name string) bool {
	top, _, below := strings.Cut(name, "/")
	return below && (top == "assets" || top == "references")
}

// readScript reads what can be seen in a program of any language.
func (f *finder) readScript(name string) (text string, ok bool) {
	if text, ok = f.open(name); ok {
		f.findHints(name, text)
	}
	return text, ok
}

// readUnnamed reads a script of which only its first line says what it is.
func (f *finder) readUnnamed(name string) {
	file, err := f.skill.Open(name)
	if err != nil {
		return
	}
	head := make([]byte, 64)
	n, _ := io.ReadFull(file, head) // shorter ones are fine
	if file.Close() != nil || !bytes.HasPrefix(head[:n], []byte("#!")) {
		return
	}
	switch line, _, _ := bytes.Cut(head[:n], []byte("\n")); {
	case bytes.Contains(line, []byte("python")) || bytes.Contains(line, []byte("uv run")):
		f.readPython(name)
	case bytes.Contains(line, []byte("node")):
		f.readJavaScript(name)
	default:
		f.readScript(name)
	}
}

// note adds what is not followed.
func (f *finder) note(source Source, text string) {
	f.found.Notes = union(maxNotes, f.found.Notes, Note{Source: source, Text: text})
}

// shown quotes what a file says, for a note.
func shown(text string) string { return strconv.Quote(truncate.After(text, 80)) }

// needs returns what was found. What is declared for all programs takes the
// place of what they import, and what texts tell to install.
func (f *finder) needs() Needs {
	if f.projects > 0 {
		f.inferredPython = gathered{}
	}
	if f.manifests > 0 {
		f.inferredNpm = gathered{}
	}
	python, npm := f.merged(f.declaredPython, f.inferredPython), f.merged(f.declaredNpm, f.inferredNpm)
	n := f.found
	n.Python, n.Npm = python, npm
	if f.manifests != 1 || len(n.Npm) != len(f.declaredNpm.all) || len(n.NpmLock) == 0 {
		n.NpmManifest, n.NpmLock = nil, nil
	}
	slices.Sort(n.RequiresPython)
	n.RequiresPython = slices.Compact(n.RequiresPython)
	byName := func(a, b Hint) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(n.Variables, byName)
	slices.SortFunc(n.Hosts, byName)
	return n
}

// merged joins requirements: equal texts become one, and what is inferred gives
// way to what is declared for the same package, and a guess to what names it.
func (f *finder) merged(declared, inferred gathered) (all []Requirement) {
	for _, r := range declared.all {
		all = join(all, r, func(same Requirement) bool { return same.Text == r.Text })
	}
	for _, imported := range []bool{false, true} { // a guess of which the name is stated elsewhere is none
		for _, r := range inferred.all {
			if (r.Import != "") == imported {
				all = join(all, r, func(same Requirement) bool { return same.Name == r.Name })
			}
		}
	}
	slices.SortFunc(all, func(a, b Requirement) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Text, b.Text)) })
	if asked := len(all) + declared.more + inferred.more; asked > maxRequirements {
		f.note(Source{}, fmt.Sprintf("%d packages are asked for, of which %d are taken", asked, min(len(all), maxRequirements)))
	}
	if len(all) > maxRequirements {
		all = all[:maxRequirements]
	}
	return all
}

// gathered are requirements in the order in which files ask for them. A skill
// can ask for as many as it has bytes: only the first of those that differ are
// kept.
type gathered struct {
	all  []Requirement
	at   map[string]int // by what tells them apart
	more int            // that are not kept
}

// add adds a requirement, or its sources to one that is the same.
func (g *gathered) add(r Requirement) {
	key := r.Text + "\n" + r.Import
	i, known := g.at[key]
	switch {
	case known:
		g.all[i].join(r)
	case len(g.all) == maxGathered:
		g.more++
	default:
		if g.at == nil {
			g.at = map[string]int{}
		}
		g.at[key] = len(g.all)
		g.all = append(g.all, r)
	}
}

// join adds a requirement, or its sources to one that is the same.
func join(all []Requirement, r Requirement, same func(Requirement) bool) []Requirement {
	i := slices.IndexFunc(all, same)
	if i < 0 {
		return append(all, r)
	}
	all[i].join(r)
	return all
}

// join adds what another one says of the same package.
func (r *Requirement) join(other Requirement) {
	r.Sources, r.Hashes = union(maxSources, r.Sources, other.Sources...), union(maxHashes, r.Hashes, other.Hashes...)
}

// union adds to a list what is not in it, up to a length.
func union[T comparable](most int, list []T, others ...T) []T {
	for _, other := range others {
		if len(list) < most && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list
}
