package activation

import (
	"context"
	"fmt"

	"github.com/skills-mcp/skills-mcp/server/internal/access"
)

// writeGranted says what the skill is granted, and what it seems to need besides,
// which is not worth a copy of a skill of very many files.
func (p *page) writeGranted(ctx context.Context) {
	if p.more && !p.Access.Any(p.skill) {
		return
	}
	copied, err := p.Copies.Take(ctx, p.skill.Dir)
	if err != nil {
		p.Skills.Log.Debug("what a skill is granted is not known", "skill", p.skill.Name, "error", err)
		return
	}
	defer copied.Release()
	asked, err := p.Needs(copied.Digest, copied.Dir)
	if err != nil {
		p.Skills.Log.Debug("what a skill needs is not known", "skill", p.skill.Name, "error", err)
	}
	version := access.Skill{Skill: p.skill, Digest: copied.Digest, Copy: copied.Dir}
	p.granted = p.Access.Granted(version)
	p.WriteString(p.Access.Text(version, asked))
	if packages := p.Requirements.PackagesOf(ctx, p.skill, copied); packages != "" {
		fmt.Fprintln(p, packages)
	}
}
