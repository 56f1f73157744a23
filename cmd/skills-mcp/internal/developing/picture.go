package developing

import (
	"context"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/inspecting"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
)

// Picture is what a host sees of a skill.
type Picture struct {
	Name string `json:"name"`
	// Path is the skill's, as it is shown.
	Path string `json:"path"`
	// Broken says that this is how it was before its entry document became one that
	// cannot be used. Hosts are still served that, and examples are not run.
	Broken bool `json:"broken,omitempty"`
	// Description is what a model is told unasked, unless it is for users alone.
	Description string `json:"description"`
	UserOnly    bool   `json:"userOnly,omitempty"`
	// Lines are those of the text that activate gives.
	Lines int `json:"lines"`
	// Resources are the skill's files but its entry document, or Beyond says why they
	// are not listed.
	Resources []Resource `json:"resources"`
	Beyond    string     `json:"beyond,omitempty"`
	Tokens    Tokens     `json:"tokens"`
	// Before is what Tokens were, where that is known and another.
	Before *Tokens `json:"before,omitempty"`
	// First says that the skill was not there before.
	First bool `json:"first,omitempty"`

	path string
}

// Resource is a file.
type Resource struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Tokens are about how many of a model's tokens each level takes.
type Tokens struct {
	// Listed are those that are always taken: the name and the description.
	Listed int64 `json:"listed"`
	// Activated are those of what activate gives, of which Instructions are the
	// author's own.
	Activated    int64 `json:"activated"`
	Instructions int64 `json:"instructions"`
	// Resources are those of all other files, where they are text.
	Resources int64 `json:"resources"`
}

// picture looks at a skill.
func (s *session) picture(ctx context.Context, skill *catalog.Skill, broken bool) (*Picture, error) {
	levels, files, err := inspecting.Levels(ctx, skill)
	if err != nil {
		return nil, err
	}
	text, err := s.Activation(ctx, skill)
	if err != nil {
		return nil, err
	}
	p := &Picture{
		Name: skill.Name, Path: validating.Shown(s.From, skill.Shown()), Broken: broken, Description: skill.Description, UserOnly: skill.UserOnly,
		Lines: strings.Count(text, "\n") + 1, Resources: []Resource{}, Beyond: levels[2].Beyond,
		Tokens: Tokens{levels[0].Tokens, inspecting.Tokens(int64(len(text))), levels[1].Tokens, levels[2].Tokens},
		First:  true, path: skill.Shown(),
	}
	for _, file := range files {
		if file.Path != skill.Entry {
			p.Resources = append(p.Resources, Resource{file.Path, file.Size})
		}
	}
	return p, nil
}

// after notes how the skill was before, if it was there.
func (p *Picture) after(was *Picture) {
	if was == nil {
		return
	}
	p.First = false
	if was.Tokens != p.Tokens {
		p.Before = &was.Tokens
	}
}

// tokensBefore returns what Tokens were, or are where nothing else is known.
func (p *Picture) tokensBefore() Tokens {
	if p.Before != nil {
		return *p.Before
	}
	return p.Tokens
}

// compareProblems returns the problems that came and that went. One that only moved
// in its file did neither.
func compareProblems(was, now []catalog.Problem) (came, went []catalog.Problem) {
	still := func(p catalog.Problem) catalog.Problem {
		p.Line, p.Column = 0, 0
		return p
	}
	left := map[catalog.Problem]int{}
	for _, p := range was {
		left[still(p)]++
	}
	came = slices.DeleteFunc(slices.Clone(now), func(p catalog.Problem) bool {
		left[still(p)]--
		return left[still(p)] >= 0
	})
	went = slices.DeleteFunc(slices.Clone(was), func(p catalog.Problem) bool {
		if left[still(p)] <= 0 {
			return true
		}
		left[still(p)]--
		return false
	})
	return came, went
}
