package metadata

import (
	"bytes"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// referenceRefuses reports whether the reference validator refuses a frontmatter
// because it reads another one: it ends it at the first --- after the first
// line's, wherever that stands, and takes what follows the first as YAML.
func referenceRefuses(r *problem.Report, head []byte, p frontmatter.Parts, dirName string) bool {
	const hyphens = "---"
	rest, begins := bytes.CutPrefix(head, []byte(hyphens))
	if !begins {
		return false // reported as what stands before it
	}
	beside, _, _ := bytes.Cut(rest, []byte("\n"))
	end := bytes.Index(rest, []byte(hyphens))
	switch {
	case bytes.ContainsRune(beside, '\t'):
		r.Add("frontmatter-hyphens", firstLine, "a tab follows the --- that begins the frontmatter")
	case end < len(beside)+1+len(p.YAML): // before the line that ends it
		theirs := &problem.Report{Mode: problem.Strict}
		m, read := frontmatter.Decode(theirs, rest[:end], 1)
		if read {
			validate(theirs, m, dirName)
		}
		if theirs.Errors > 0 {
			r.Add("frontmatter-hyphens", problem.AtByte(head, len(hyphens)+end, 1), "the reference validator ends the frontmatter at this ---, and refuses what is left of it")
		}
	}
	return r.Errors > 0
}
