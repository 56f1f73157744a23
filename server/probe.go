package server

import (
	"context"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// Bounds of probes.
const (
	probePatience  = 10 * time.Second // for all of them
	maxProbeBytes  = 256 << 10
	maxKnownProbes = 256
)

// probes find out what the sandbox lacks, once for each version of a skill.
// The zero value is ready to use.
type probes struct {
	turn sync.Mutex // whoever probes; the others find it known then

	mu    sync.Mutex
	known map[string][]lack // by the copy's digest
}

func (p *probes) find(digest string) (lacks []lack, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lacks, known = p.known[digest]
	return lacks, known
}

func (p *probes) remember(digest string, lacks []lack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string][]lack{}
	}
	if len(p.known) >= maxKnownProbes {
		clear(p.known) // which costs another look
	}
	p.known[digest] = lacks
}

// lacks tells what the programs of a skill need and the sandbox has not. It
// tells nothing where that cannot be found out in time.
func (s *Server) lacks(ctx context.Context, skill *catalog.Skill, files []resources.Entry) []lack {
	if s.opts.Sandbox == nil || s.skills.Policy.Mode != policy.Log && !s.skills.Grants(skill).Execute() {
		return nil
	}
	if !skill.HasTools && len(scriptsOf(skill.Dir, files)) == 0 {
		return nil
	}
	copied, err := s.opts.Copies.Take(ctx, skill)
	if err != nil {
		s.log.Debug("what the sandbox lacks is not known", "skill", skill.Name, "error", err)
		return nil
	}
	defer copied.Release()
	return s.lacksOfCopy(ctx, skill, copied)
}

// lacksOfCopy is lacks for one version.
func (s *Server) lacksOfCopy(ctx context.Context, skill *catalog.Skill, copied *resources.Copy) []lack {
	if lacks, known := s.probes.find(copied.Digest); known {
		return lacks
	}
	defer request.Idle(ctx)()
	s.probes.turn.Lock()
	defer s.probes.turn.Unlock()
	if lacks, known := s.probes.find(copied.Digest); known {
		return lacks
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	lacks, err := s.probe(ctx, skill, copied)
	if err != nil {
		s.log.Debug("what the sandbox lacks is not known", "skill", skill.Name, "error", err)
		return nil
	}
	s.probes.remember(copied.Digest, lacks)
	return lacks
}

// probe looks into the sandbox.
func (s *Server) probe(ctx context.Context, skill *catalog.Skill, copied *resources.Copy) ([]lack, error) {
	there := *skill
	there.Dir = copied.Dir
	var all []needed
	var entries []resources.Entry
	err := skills.WithTree(&there, func(tree *resources.Tree) (err error) {
		if entries, _, err = tree.List(".", listDepth); err != nil {
			return err
		}
		all = scriptsOf(copied.Dir, entries)
		if !skill.HasTools {
			return nil
		}
		if tools, _, err := packTools(&there, tree); err == nil { // else activate tells of it
			all = append(all, programsOf(tools)...)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	run, err := s.newProbing(ctx, skill, copied)
	if err != nil {
		return nil, err
	}
	defer run.workspace.Acquire()()
	return run.all(all, localModules(entries))
}
