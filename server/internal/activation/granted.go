package activation

import (
	"context"

	"github.com/skills-mcp/skills-mcp/server/internal/access"
)

// writeGranted says what the skill is granted, and what it seems to need besides.
func (p *page) writeGranted(ctx context.Context) {
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
	p.WriteString(p.Access.Text(access.Skill{Skill: p.skill, Digest: copied.Digest, Copy: copied.Dir}, asked))
}
