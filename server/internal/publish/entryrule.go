package publish

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// EntryFault says why skills/list leaves a skill out, or nothing where it does
// not. The tools, prompts and resources serve it all the same.
func EntryFault(skill *catalog.Skill) string {
	return cmp.Or(frontmatterFault(skill), filesFault(skill, skills.Files(skill, contained.MaxEntries)))
}

// fault says why skills/list leaves an entry out, or nothing.
func (e skillEntry) fault() string {
	return cmp.Or(frontmatterFault(e.skill), filesFault(e.skill, e.files))
}

// frontmatterFault says how a skill breaks the Agent Skills specification, to
// which every skill served by the extension must conform (SEP-2640, Skill
// Format), or nothing. Hosts check the entries of skills/list, and compare the
// frontmatter with what they read themselves (Frontmatter Verification): to the
// clients of FastMCP, fast-agent and the official SDKs one entry that breaks a
// rule of theirs spoils the listing of all. Such a skill is left out of the
// listing, which may be partial, and is served otherwise.
func frontmatterFault(skill *catalog.Skill) string {
	fault := skill.Nonconformity()
	if fault == "" && slices.Contains(reservedNames, skill.Name) {
		fault = "its name is kept by Windows for itself"
	}
	return fault
}

// maxEntryPath is how long a path in an entry of skills/list may be, in
// characters.
const maxEntryPath = 1024

// reservedNames are those that Windows keeps for itself, whatever extension
// follows.
var reservedNames = strings.Fields("con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9")

// filesFault says which of a skill's paths some hosts cannot store, or nothing.
// They install skills on any file system, and fast-agent refuses the listing of
// all for one such path.
func filesFault(skill *catalog.Skill, files []string) string {
	fold, seen := cases.Fold(), map[string]bool{}
	for _, file := range files {
		if file == skill.Entry {
			file = "SKILL.md" // as its URI has it
		}
		key := fold.String(norm.NFC.String(file))
		switch {
		case utf8.RuneCountInString(file) > maxEntryPath:
			return "the path of a file is longer than 1024 characters"
		case key == ".skill-source.json":
			return "hosts keep .skill-source.json for themselves"
		case seen[key]:
			return "two paths differ only in case or normalization: " + display.Path(truncate.After(file, 120))
		case !slices.ContainsFunc(strings.Split(file, "/"), unportable):
			seen[key] = true
		default:
			return "a path is not possible on every system: " + display.Path(truncate.After(file, 120))
		}
	}
	return ""
}

// unportable reports whether a segment of a path is no name on Windows.
func unportable(segment string) bool {
	stem, _, _ := strings.Cut(segment, ".")
	return strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " ") || slices.Contains(reservedNames, strings.ToLower(stem)) ||
		strings.ContainsFunc(segment, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*`, r) })
}
