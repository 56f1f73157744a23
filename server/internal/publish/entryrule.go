package publish

import (
	"cmp"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// EntryFault says why skills/list leaves a skill out, or nothing where it does
// not. The tools, prompts and resources serve it all the same.
func EntryFault(skill *catalog.Skill) string {
	if fault := frontmatterFault(skill); fault != "" {
		return fault
	}
	dir, err := skills.Open(skill)
	if err != nil {
		return "" // what is gone is in no listing
	}
	defer dir.Close()
	entries, _, _ := dir.List(".", contained.MaxEntries)
	var files []string
	for _, entry := range entries {
		if !entry.Dir {
			files = append(files, entry.Path)
		}
	}
	return filesFault(skill, files)
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
