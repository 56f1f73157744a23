//go:build amd64 || arm64

package local

import (
	"github.com/skills-mcp/skills-mcp/sandbox"
)

func (s *system) info() sandbox.Info {
	info := sandbox.Info{Backend: "local", Tier: string(s.tier)}
	if s.tier == Full {
		info.SkillDir, info.Workspace = skillDir, workspace
		info.Notice = "Programs are isolated by kernel namespaces, Landlock and seccomp: they see the system's programs, " +
			"the skill (read-only) and the workspace, and have no network."
	} else {
		info.SkillDir, info.Workspace = "$SKILL_DIR", "$WORKSPACE"
		info.Notice = "Programs are restricted by Landlock and seccomp, without namespaces: they can read only the system's programs " +
			"and the skill, write only the workspace, and have no network; but they can see that other files and processes exist, " +
			"and can change the mode and times of files of the server's user."
	}
	return info
}
