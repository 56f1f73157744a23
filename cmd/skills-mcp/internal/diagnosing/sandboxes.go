package diagnosing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/backends"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// interpreters are what scripts of skills are mostly written for.
var interpreters = []string{"bash", "python3", "node", "ruby", "perl", "deno", "uv"}

// Sandboxes tries every sandbox, and what there is in the one that is used.
func (r *Report) Sandboxes(ctx context.Context, s *settings.Settings, tried []backends.Tried) {
	chosen := s.Sandbox.Backend
	usable := ""
	for _, each := range tried {
		programs, err := "those that nothing was run to look for, since that costs tokens", each.Err
		if err == nil && !each.Backend.Info().Costly {
			programs, err = programsIn(ctx, each.Backend)
		}
		used := each.Name == chosen || chosen == "auto" && each.Chosen
		if err != nil {
			state, cure := Warning, ""
			if each.Name == chosen {
				state, cure = Error, "correct that, or choose another one with --sandbox; docs/sandboxes.md compares them"
			}
			r.add("sandbox", state, cure, "%s cannot be used: %v", each.Name, err)
			continue
		}
		info := each.Backend.Info()
		mark := ""
		if used {
			usable, mark = programs, ", which --sandbox="+chosen+" uses"
		}
		state, cure := OK, ""
		if info.Tier != "full" && info.Backend == "local" {
			state, cure = Warning, "docs/sandboxes.md says what the kernel needs for tier full"
		}
		r.add("sandbox", state, cure, "%s (tier %s%s): %s", each.Name, info.Tier, mark, info.Notice)
		if used && programs == "" {
			usable = "none"
		}
	}
	switch {
	case chosen == "off":
		r.add("sandbox", OK, "", "off, so nothing is run")
	case chosen == "unsafe-host":
		r.add("sandbox", Warning, "use --sandbox=auto", "unsafe-host: programs run as you, and nothing is isolated")
	case usable == "" && chosen == "auto":
		r.add("sandbox", Warning, "correct one of the above; or, for skills that you trust as yourself, --sandbox=unsafe-host", "there is none, so no script can be run")
	case usable != "":
		r.add("interpreters", OK, "", "in the sandbox there are %s", usable)
	}
}

// programsIn runs a program in a sandbox, which says what interpreters there are.
func programsIn(ctx context.Context, backend sandbox.Backend) (list string, err error) {
	dir, err := tempdir.New("", "skills-mcp-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	skill, workspace := filepath.Join(dir.Path(), "skill"), filepath.Join(dir.Path(), "workspace")
	if err := errors.Join(os.Mkdir(skill, 0o755), os.Mkdir(workspace, 0o700)); err != nil {
		return "", err
	}
	result, err := backend.Run(ctx, sandbox.Spec{
		Shell:    `for p in ` + strings.Join(interpreters, " ") + `; do command -v "$p" > /dev/null && echo "$p"; done; true`,
		SkillDir: skill, Workspace: workspace,
	})
	if err != nil {
		return "", err
	}
	if result.Status != sandbox.Exited || result.ExitCode != 0 {
		return "", fmt.Errorf("a program that was tried ended as %q, exit code %d", result.Status, result.ExitCode)
	}
	return strings.Join(strings.Fields(string(result.Stdout.Data)), ", "), nil
}
