package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog/internal/entryhead"
	"github.com/skills-mcp/skills-mcp/catalog/internal/metadata"
)

// Skill is the metadata of one skill as it stood at a scan. It is immutable.
type Skill struct {
	// Name is the frontmatter's name, without white space at its edges: 1 to
	// 64 characters, unique in a snapshot (also under Unicode NFKC).
	Name string
	// Description is the frontmatter's description, without white space at
	// its edges: 1 to 1024 characters; a longer one is cut there and ends in
	// an ellipsis, and Frontmatter has the whole.
	Description string
	// Path is the skill path of its skill:// URIs (SEP-2640): the root's
	// prefix, if any, or where the skill lies in another one, that one's
	// path and the directories between, and Name as the last segment, joined
	// by slashes. It is not percent-encoded.
	Path string
	// Dir is the absolute host directory. It is never shown to a client.
	Dir string
	// Archive is the absolute path of the archive that Dir was extracted from,
	// or empty.
	Archive string
	// Withheld reports whether a clean path in Dir, with what is below it, is no
	// content of the skill. If nil, none is.
	Withheld func(path string) bool
	// Entry is the name of the entry document inside Dir: SKILL.md, except
	// in other letter cases and in pack roots.
	Entry string
	// Root is the index of the root that it was found in.
	Root int

	// Compatibility is the frontmatter's compatibility: a string as it
	// stands, a map as compact JSON, or empty.
	Compatibility string
	// AllowedTools is the frontmatter's allowed-tools (or allowed_tools) as
	// declared: one element for a string, one an item for a list. It is nil
	// where the key is absent, and not nil where it is there and null, empty,
	// or neither a string nor a list, or misspelled: that skill may use no
	// tool.
	AllowedTools []string
	// UserOnly is true where the author wants no model to begin with the skill by
	// itself (disable-model-invocation: true), and ModelOnly where it is no command
	// for users (user-invocable: false). Both may be named and read all the same.
	UserOnly, ModelOnly bool
	// Frontmatter is the whole frontmatter as a JSON object, verbatim, keys
	// in the author's order.
	Frontmatter json.RawMessage
	// HasTools is true where a tools.json lies beside the entry document. It is
	// not read at scan.
	HasTools bool

	shown    string // see Shown
	read     entryhead.Reading
	problems []Problem // of the entry document as it was read
	// keptFor is what the entry document reads by now, where that cannot be
	// used and this version stays in force.
	keptFor *entryhead.Reading
	indexed bool // see Unread
}

// Place returns where its user has the skill: its directory, or its archive.
func (s *Skill) Place() string { return cmp.Or(s.Archive, s.Dir) }

// Shown returns the path of its directory as problems have it: of one in an
// archive, that of the archive and the path in there.
func (s *Skill) Shown() string { return cmp.Or(s.shown, s.Dir) }

// Problems returns what is at fault in the entry document that the skill was read
// from, and did not keep it from being published. The caller must not change
// the slice.
func (s *Skill) Problems() []Problem { return s.problems }

// Nonconformity says in what the skill's frontmatter is not what the
// specification wants, as the strictest of its readers take it (values have the
// type of JSON that it names, and names are ASCII), or nothing. Such a skill is
// published all the same.
func (s *Skill) Nonconformity() string { return metadata.Nonconformity(s.Frontmatter, s.problems) }

// NameFault says what the reference validator has against a name, or nothing.
func NameFault(name string) string { return metadata.NameFault(name) }

// ReadFrom reports whether this skill is what the entry document in another
// directory, a copy of its own, makes of it: its head is the one that was read
// from Dir, or the faulty one that left this version in force.
func (s *Skill) ReadFrom(dir string) bool {
	_, there, err := entryhead.Read(dir, s.Entry)
	return err == nil && (there.Sum == s.read.Sum || s.keptFor != nil && there.Sum == s.keptFor.Sum)
}

// Stale reports whether the entry document is not the one that this skill was
// read from: changed, replaced or gone. It costs one stat, and one short read
// where the file was written so shortly before the scan that its times cannot
// tell. [Catalog.Refresh] brings the catalog up to date. A skill in an archive
// is compared with what was extracted, not with the archive.
func (s *Skill) Stale() bool { return !s.read.Current(s.Dir, s.Entry) }

// Unread reports whether the skill is what an index says, by which its entry
// document has not changed, and not what was read of that. It is good enough for
// lists; before anything is decided by it, [Catalog.Refresh] has it read.
func (s *Skill) Unread() bool { return s.indexed }

// equal reports whether the two are the same to a reader, whenever they were
// read.
func (s *Skill) equal(other *Skill) bool {
	return s == other || s.Dir == other.Dir && s.Entry == other.Entry && s.Path == other.Path &&
		s.Root == other.Root && s.HasTools == other.HasTools &&
		bytes.Equal(s.Frontmatter, other.Frontmatter) &&
		s.Compatibility == other.Compatibility &&
		slices.Equal(s.AllowedTools, other.AllowedTools) && (s.AllowedTools == nil) == (other.AllowedTools == nil)
}
