package server

import (
	"context"
	"errors"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxStagings is how often a skill is looked at anew that changes between the
// decision and the copy.
const maxStagings = 5

// staged is a run that was decided on, with the version of the skill that the
// decision is about.
type staged struct {
	skill   *catalog.Skill
	copy    *staging.Copy // released by the caller
	spec    sandbox.Spec
	request policy.Request
}

// stage decides on a run and takes the copy of the skill that it is to see.
// What was decided on is what runs: the entry document in the copy is the one
// whose frontmatter was asked, and a tool comes from the tools.json in it.
func (s *Server) stage(ctx context.Context, arguments execArguments) (staged, error) {
	for range maxStagings {
		skill, err := s.skills.Find(ctx, arguments.Name)
		if err != nil {
			return staged{}, err
		}
		run := staged{skill: skill}
		// What is denied is not worth a copy.
		if err := s.approve(&run, arguments); err != nil {
			return staged{}, err
		}
		if err := s.executable(); err != nil {
			return staged{}, err
		}
		fits, err := s.pin(ctx, &run, arguments)
		if fits || err != nil {
			return run, err
		}
	}
	return staged{}, failure.New(failure.SandboxSetup, "Try again when nothing writes to the skill's directory any more.",
		"skill %q changes all the time, so no version of it can be run", arguments.Name)
}

// approve asks the policy.
func (s *Server) approve(run *staged, arguments execArguments) (err error) {
	if run.spec, run.request, err = program(run.skill, arguments); err != nil {
		return err
	}
	run.request = s.located(run.request, run.spec)
	return s.skills.Permit(run.skill, run.request)
}

// located says where a program would start, and what it would call the skill's
// directory.
func (s *Server) located(request policy.Request, spec sandbox.Spec) policy.Request {
	request.InSkill = spec.InSkill
	if s.opts.Sandbox != nil {
		request.SkillDir = s.opts.Sandbox.Info().SkillDir
	}
	return request
}

// pin takes the copy. fits is false where it is not of the version that was
// decided on.
func (s *Server) pin(ctx context.Context, run *staged, arguments execArguments) (fits bool, err error) {
	if run.copy, err = s.opts.Copies.Take(ctx, run.skill.Dir); err != nil {
		return false, s.notStaged(run.skill, err)
	}
	run.bind()
	fits = run.skill.ReadFrom(run.copy.Dir)
	if fits && arguments.Tool != "" {
		err = s.approveCopied(run, arguments)
	}
	if !fits || err != nil {
		run.copy.Release()
	}
	return fits, err
}

// approveCopied takes a tool from the copy, and asks the policy where it is
// another one than that on disk was.
func (s *Server) approveCopied(run *staged, arguments execArguments) error {
	copied := *run.skill
	copied.Dir = run.copy.Dir
	spec, request, err := program(&copied, arguments)
	if err != nil {
		return err
	}
	request = s.located(request, spec)
	if !slices.Equal(request.Argv, run.request.Argv) {
		if err := s.skills.Permit(run.skill, request); err != nil {
			return err
		}
	}
	run.spec, run.request = spec, request
	run.bind()
	return nil
}

// bind has the program see the copy, and what programs of the same version of
// the skill left in their HOME and TMPDIR.
func (run *staged) bind() {
	run.spec.SkillDir, run.spec.Owner = run.copy.Dir, skills.Owner(run.skill, run.copy.Digest)
}

// notStaged is why there is no copy.
func (s *Server) notStaged(skill *catalog.Skill, err error) error {
	var refused *contained.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Rule {
	case contained.NotFound, contained.NotDirectory:
		return skills.Gone(skill, err)
	case contained.Unreadable:
		s.log.Error("a skill cannot be copied for a run", "skill", skill.Name, "error", refused.Err)
		return &failure.Failure{Code: failure.SandboxSetup, Message: refused.Message, Hint: refused.Hint, Cause: err}
	}
	return err
}
