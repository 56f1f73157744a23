package shares

import (
	"io"
	"io/fs"

	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// maxIndexBytes bounds a git index that is looked into.
const maxIndexBytes = 64 << 20

// Judge returns what refuses changes in a set that the rules protect from.
func Judge(rules paths.Rules, set *changes.Set) changes.Judge {
	prefix := ""
	if set.Target().Label == LabelGit {
		prefix = GitPrefix
	}
	return func(path string, change changes.Change) string {
		if reason, protected := rules.Protected(prefix+path, kindOf(change)); protected {
			return reason
		}
		if path == change.Path && change.Mode.IsRegular() && change.Kind != changes.Deleted && paths.GitIndex(prefix+path) {
			return indexFault(set, change)
		}
		return ""
	}
}

// indexFault says why a git index must not be applied.
func indexFault(set *changes.Set, change changes.Change) string {
	file, held, err := set.OpenFile(change.Path)
	if err != nil {
		return "cannot be looked into"
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxIndexBytes+1))
	if err != nil || len(content) > maxIndexBytes || held.Digest != change.Digest {
		return "cannot be looked into"
	}
	reason, _ := paths.GitIndexFault(content)
	return reason
}

// kindOf is a change as the rules have it.
func kindOf(change changes.Change) paths.Kind {
	switch {
	case change.Kind == changes.Deleted:
		return paths.Deleted
	case change.Mode&fs.ModeSymlink != 0:
		return paths.Link
	case change.Kind == changes.Mode:
		return paths.Mode
	case change.Mode.IsDir():
		return paths.Directory
	case change.Kind == changes.Added:
		return paths.Added
	case change.Kind == changes.Modified:
		return paths.Modified
	}
	return paths.Unknown
}
