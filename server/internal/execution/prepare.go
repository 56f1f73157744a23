package execution

import (
	"bytes"
	"context"
	"errors"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/library"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxAttempts is how often a skill is looked at again that changes between the
// decision and the copy.
const maxAttempts = 5

// prepared is a run that was decided on, with the version of the skill that the
// decision is about. skill and copy are nil where it is of no skill.
type prepared struct {
	skill   *catalog.Skill
	copy    *staging.Copy
	tools   []byte // the tools.json that a tool is from
	library *library.Loan
	spec    sandbox.Spec
	request policy.Request
	longest bool // its caller cannot give it more time
}

// digest is that of the skill's version, or empty.
func (run *prepared) digest() string {
	if run.copy == nil {
		return ""
	}
	return run.copy.Digest
}

// author is whose the changes of the run are.
func (run *prepared) author() shares.Author {
	if run.skill == nil {
		return shares.Author{}
	}
	return shares.Author{Skill: run.skill.Name, Dir: run.skill.Place(), Digest: run.digest()}
}

// granted is what may have been granted something; nothing where it is no skill.
func (run *prepared) granted() access.Skill {
	if run.skill == nil {
		return access.Skill{}
	}
	return access.Skill{Skill: run.skill, Digest: run.copy.Digest, Copy: run.copy.Dir}
}

// program is what a user is asked about who is asked while it runs.
func (run *prepared) program(p Program) access.Program {
	name := "shell " + run.spec.Shell
	switch {
	case p.Tool != "":
		name = "tool " + p.Tool
	case p.Script != "":
		name = "script " + run.spec.Script
	case p.Program != "":
		name = "program " + p.Program
	}
	return access.Program{Name: name, Timeout: run.spec.Limits.Timeout}
}

func (run *prepared) release() {
	if run.copy != nil {
		run.copy.Release()
	}
	run.library.Release()
}

// prepare decides on a run and takes the copy of the skill that it is to see.
// What was decided on is what runs: the entry document in the copy is the one
// whose frontmatter was asked, and a tool comes from the tools.json in it.
func (r *Runner) prepare(ctx context.Context, p Program) (*prepared, error) {
	for range maxAttempts {
		run := &prepared{}
		var err error
		if p.Skill != "" {
			if run.skill, err = r.Skills.Find(ctx, p.Skill); err != nil {
				return nil, err
			}
		}
		if err := run.plan(p); err != nil {
			return nil, err
		}
		limits := r.Limits.Of(p.Skill)
		run.spec.Limits = limits.run(run.spec.Limits.Timeout)
		run.longest = run.longest || p.Untimed || run.spec.Limits.Timeout == limits.Longest
		run.request.InSkill = run.spec.InSkill
		run.request.SkillDir = r.Sandbox.Info().SkillDir
		// What is denied is not worth a copy.
		if err := r.Skills.Permit(ctx, run.skill, run.request); err != nil {
			return nil, err
		}
		if err := r.executable(); err != nil {
			return nil, err
		}
		if run.skill == nil {
			return run, r.showSkills(ctx, run)
		}
		if run.copy, err = r.Copies.Take(ctx, run.skill.Dir); err != nil {
			return nil, r.notCopied(run.skill, err)
		}
		if run.fits() {
			run.spec.SkillDir, run.spec.Owner = run.copy.Dir, skills.Owner(run.skill, run.copy.Digest)
			return run, nil
		}
		run.copy.Release()
	}
	return nil, failure.New(failure.SandboxSetup, "Try again when nothing writes to the skill's directory any more.",
		"skill %q changes all the time, so no version of it can be run", p.Skill)
}

// showSkills has a run of no skill see all of them, where that is wanted.
func (r *Runner) showSkills(ctx context.Context, run *prepared) (err error) {
	run.library, err = r.Library.Take(ctx)
	if refused, ok := errors.AsType[*contained.Error](err); ok {
		r.Log.Error("skills cannot be copied for a run", "error", refused.Err)
		return &failure.Failure{Code: failure.SandboxSetup, Message: refused.Message, Hint: refused.Hint, Cause: err}
	}
	if err == nil {
		run.library.Specify(&run.spec)
	}
	return err
}

// fits reports whether the copy is of the version that was decided on.
func (run *prepared) fits() bool {
	if !run.skill.ReadFrom(run.copy.Dir) {
		return false
	}
	if run.tools == nil {
		return true
	}
	copied := *run.skill
	copied.Dir = run.copy.Dir
	tools, err := readTools(&copied)
	return err == nil && bytes.Equal(tools, run.tools)
}

// notCopied is why there is no copy.
func (r *Runner) notCopied(skill *catalog.Skill, err error) error {
	refused, ok := errors.AsType[*contained.Error](err)
	if !ok {
		return err
	}
	switch refused.Rule {
	case contained.NotFound, contained.NotDirectory:
		return skills.Gone(skill, err)
	case contained.Unreadable:
		r.Log.Error("a skill cannot be copied for a run", "skill", skill.Name, "error", refused.Err)
		return &failure.Failure{Code: failure.SandboxSetup, Message: refused.Message, Hint: refused.Hint, Cause: err}
	}
	return err
}
