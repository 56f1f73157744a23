// Package needs finds out what the programs of a skill ask for beyond the
// skill: packages of Python and npm, environment variables and hosts.
//
// All of it is read from files that others wrote. Nothing of it is run, and
// nothing that is found grants anything: it is what a user is asked about.
package needs

import (
	"io/fs"
	"slices"
)

// Needs is what the files of a skill ask for. Lists are sorted by name, without
// duplicates.
type Needs struct {
	// Python and Npm are packages of the two indexes.
	Python, Npm []Requirement
	// RequiresPython are the versions of Python that scripts and projects state,
	// such as ">=3.11", each once.
	RequiresPython []string
	// NpmLock is the package-lock.json of the skill's only package.json, NpmManifest;
	// both are nil where there is no such pair.
	NpmLock, NpmManifest []byte
	// Variables are names of environment variables, and Hosts names of hosts,
	// that files mention.
	Variables, Hosts []Hint
	// Notes say what was found and is not followed, and why.
	Notes []Note
}

// Requirement is one package that is asked for.
type Requirement struct {
	// Name is the name of the package: as PEP 503 normalizes it, or as npm has it.
	Name string
	// Text is what the index is asked for: a requirement of PEP 508, or
	// "name@range".
	Text string
	// Import is the module that a program imports where nothing names the
	// package, or empty.
	Import string
	// Guess reports that the package was inferred from Import, and can be
	// another's.
	Guess bool
	// Hashes are those that the file demands, "sha256:…".
	Hashes []string
	// Sources are where it is asked for: the first few.
	Sources []Source
}

// Hint is a name that files mention.
type Hint struct {
	Name string
	// Declared reports that the frontmatter names it as needed.
	Declared bool
	Sources  []Source
}

// Note is something that is not followed.
type Note struct {
	Source
	Text string
}

// Source is a line of a file of the skill, counted from 1; 0 is the whole file.
type Source struct {
	File string
	Line int
}

// Packages reports whether any package is asked for.
func (n Needs) Packages() bool { return len(n.Python)+len(n.Npm) > 0 }

// Find reads the files of a skill. It returns an error only where the skill's
// directory cannot be read at all; what else is wrong becomes a [Note].
func Find(skill fs.FS) (Needs, error) {
	found := finder{skill: skill}
	files, err := found.list()
	if err != nil {
		return Needs{}, err
	}
	found.read(files)
	return found.needs(), nil
}

// Texts returns the texts of requirements, sorted, each once.
func Texts(requirements []Requirement) []string {
	var texts []string
	for _, r := range requirements {
		texts = append(texts, r.Text)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
