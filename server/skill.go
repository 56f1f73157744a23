package server

import (
	"context"
	"fmt"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// maxEntryBytes bounds an entry document, in bytes. Hosts cut a result long
// before this; it is here so that no file can exhaust memory.
const maxEntryBytes = 1 << 20

// skill finds a skill by name, as its entry document stands on disk now. One
// that was broken by its last save is as it was last good.
func (s *Server) skill(ctx context.Context, name string) (*catalog.Skill, error) {
	skill, ok := s.opts.Catalog.Snapshot().Lookup(name)
	if ok && skill.Stale() {
		var err error
		if skill, ok, err = s.opts.Catalog.Refresh(ctx, name); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, failure.NoSkill(name, nearNames(s.opts.Catalog.Snapshot(), name))
	}
	return skill, nil
}

// grants parses what a skill declares. Faulty entries grant nothing.
func (s *Server) grants(skill *catalog.Skill) *policy.Grants {
	grants, faults := policy.Parse(skill.AllowedTools)
	for _, fault := range faults {
		s.log.Warn("allowed-tools entry grants nothing", "skill", skill.Name, "fault", fault)
	}
	return grants
}

// decide asks the policy and turns a denial into a failure.
func (s *Server) decide(skill *catalog.Skill, request policy.Request) error {
	decision := s.opts.Policy.Decide(s.grants(skill), request)
	if decision.Logged {
		s.log.Warn("not in allowed-tools, allowed by mode log", "skill", skill.Name, "op", request.Op, "rule", decision.Rule)
	}
	if decision.Effect != policy.Allow {
		return failure.Denied(skill.Name, decision)
	}
	return nil
}

// permitRead asks the policy about a file or directory of a skill. The entry
// document is what activation gives, so it can always be read.
func (s *Server) permitRead(skill *catalog.Skill, file string) error {
	if file == skill.Entry {
		return nil
	}
	return s.decide(skill, policy.Request{Op: policy.OpRead, Path: file})
}

// readable returns what reports whether a file or directory of a skill may be
// read, for listings: nothing is logged.
func (s *Server) readable(skill *catalog.Skill) func(file string) bool {
	grants, _ := policy.Parse(skill.AllowedTools)
	return func(file string) bool {
		return file == skill.Entry || s.opts.Policy.Decide(grants, policy.Request{Op: policy.OpRead, Path: file}).Effect == policy.Allow
	}
}

// resolve finds the skill and the file that a URI names, the skill as its entry
// document stands on disk now.
func (s *Server) resolve(ctx context.Context, uri string) (*catalog.Skill, string, error) {
	skill, file, err := resources.Resolve(s.opts.Catalog.Snapshot(), uri)
	if err != nil || !skill.Stale() {
		return skill, file, err
	}
	if _, _, err := s.opts.Catalog.Refresh(ctx, skill.Name); err != nil {
		return nil, "", err
	}
	return resources.Resolve(s.opts.Catalog.Snapshot(), uri)
}

// withTree opens a skill's directory for the time of one use.
func withTree(skill *catalog.Skill, use func(*resources.Tree) error) error {
	tree, err := resources.OpenSkill(skill)
	if err != nil {
		return gone(skill, err)
	}
	defer tree.Close()
	return use(tree)
}

// gone is the failure of a skill whose directory cannot be opened any more.
func gone(skill *catalog.Skill, err error) *failure.Failure {
	return &failure.Failure{Code: failure.SkillNotFound, Message: fmt.Sprintf("the skill %q is gone from disk", skill.Name),
		Hint: "Call findSkills to see the skills there are.", Cause: err}
}

// instructionsOf are a skill's instructions as they stand on disk now.
type instructionsOf struct {
	body string
	// fault is what is wrong with the frontmatter, where the body can be
	// told from it even so; else empty.
	fault string
}

// body reads a skill's instructions.
func (s *Server) body(skill *catalog.Skill, tree *resources.Tree) (instructionsOf, error) {
	content, err := tree.ReadAll(skill.Entry, maxEntryBytes)
	if err != nil {
		return instructionsOf{}, err
	}
	document, problems := catalog.ParseDocument(skill.Entry, content.Data)
	read := instructionsOf{body: document.Body}
	if document.Frontmatter != nil {
		return read, nil
	}
	for _, problem := range problems {
		if problem.Severity == catalog.Error {
			read.fault = fmt.Sprintf("%s, line %d: %s", skill.Entry, problem.Line, problem.Message)
			break
		}
	}
	if len(document.Body) >= len(content.Data) {
		return read, failure.New(failure.InvalidFrontmatter, "Tell the user; the author has to mend it.", "skill %q has no frontmatter any more: %s", skill.Name, read.fault)
	}
	return read, nil
}
