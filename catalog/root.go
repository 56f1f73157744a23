package catalog

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// Root is one directory or archive in which skills are looked for.
type Root struct {
	// Path is the absolute, cleaned path of a directory, or of a .skill or
	// .zip archive that holds skills. A directory that holds SKILL.md itself
	// is a skill.
	Path string
	// Prefix is put before the skill's name in [Skill.Path]: slash-separated
	// segments of [a-z0-9-] without an edge slash. Empty means none.
	Prefix string
	// Pack marks a root of capability packs, in which the entry document may
	// be another file than SKILL.md (see [Skill.Entry]).
	Pack bool
	// Entry is the configured name of a pack's entry document. Empty means
	// the fallback order: SKILL.md, README.md, then *.md in the pack's
	// directory in byte order; the first that begins with frontmatter is
	// taken. It has no meaning where Pack is false.
	Entry string
	// Optional marks a root whose absence is no problem, as the default
	// roots are.
	Optional bool
	// Within, if set, is the absolute path, without links, of a directory out of
	// which neither the root nor a link in it may lead.
	Within string
}

// RootError says why a [Root] makes no sense.
type RootError struct {
	// Root is the path or the command-line argument at fault.
	Root string
	// Reason says what is wrong with it, and how to correct it.
	Reason string
}

func (e *RootError) Error() string { return fmt.Sprintf("root %q: %s", e.Root, e.Reason) }

// isPrefix reports whether a text is a sequence of URI path segments (RFC 3986)
// of [a-z0-9-], which need no percent-encoding and cannot be mistaken for a path
// on disk.
func isPrefix(text string) bool {
	for segment := range strings.SplitSeq(text, "/") {
		if segment == "" || strings.Trim(segment, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

// lets reports whether something in the root, or itself, may be at a path without
// links.
func (r Root) lets(real string) bool { return r.Within == "" || pathname.Within(real, r.Within) }

// Validate returns a [*RootError] where the root makes no sense.
func (r Root) Validate() error {
	switch {
	case !filepath.IsAbs(r.Path) || filepath.Clean(r.Path) != r.Path:
		return &RootError{r.Path, "the path must be absolute and clean"}
	case strings.ContainsRune(r.Path, 0):
		return &RootError{r.Path, "the path holds a NUL"}
	case r.Within != "" && !filepath.IsAbs(r.Within):
		return &RootError{r.Path, "the path that it is within must be absolute"}
	case r.Prefix != "" && !isPrefix(r.Prefix):
		return &RootError{r.Path, fmt.Sprintf("the prefix %q must be segments of a-z, 0-9 and - joined by /", r.Prefix)}
	case r.Entry != "" && (r.Entry == "." || r.Entry == ".." || strings.ContainsAny(r.Entry, "/\\\x00")):
		return &RootError{r.Path, fmt.Sprintf("the entry document %q must be a plain file name", r.Entry)}
	}
	return nil
}

// DefaultRoots returns the roots that are served where none is named, nearest
// first: three of the project and three of the user. A directory that is
// both is given once; an empty argument leaves its three out.
func DefaultRoots(projectDir, home string) []Root {
	var roots []Root
	seen := map[string]bool{}
	add := func(base string, dirs ...string) {
		if base == "" {
			return
		}
		for _, dir := range dirs {
			path := filepath.Join(base, filepath.FromSlash(dir))
			if !seen[path] {
				seen[path] = true
				roots = append(roots, Root{Path: path, Optional: true})
			}
		}
	}
	add(projectDir, ".skills", ".agents/skills", ".claude/skills")
	add(home, ".agents/skills", ".claude/skills", ".skills-mcp/skills")
	return roots
}
