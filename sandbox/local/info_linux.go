//go:build amd64 || arm64

package local

import (
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

func (s *system) info() sandbox.Info {
	info := sandbox.Info{Backend: "local", Tier: string(s.tier)}
	if s.tier == Full {
		info.SkillDir, info.Workspace, info.Library, info.Egress = skillDir, workspace, sandbox.LibraryDir, true
		info.Notice = "Programs are isolated by kernel namespaces, Landlock and seccomp: they see the system's programs, " +
			"the skill (read-only), the workspace and what the user shares, and have no network but a loopback interface of their own and the hosts that the user grants."
	} else {
		info.SkillDir, info.Workspace = "$SKILL_DIR", "$WORKSPACE"
		info.Notice = "Programs are restricted by Landlock and seccomp, without namespaces: they can read only the system's programs, " +
			"the skill, the workspace and what the user shares, write only the workspace and copies of what is shared, and have no network, so that no hosts can be granted; but they can see that other files and processes exist"
		if s.asNobody {
			info.Notice += ", as every user can, and can change the mode and times of files of nobody."
		} else {
			info.Notice += ", and can change the mode and times of files of the server's user."
		}
	}
	info.Notice += s.unbounded()
	if s.layout.environmentHidden {
		info.Notice += " Programs do not see the user's virtual environment and its packages, and run with another Python: the log of skills-mcp says why."
	}
	info.Shown = strings.Join(s.layout.list(), "\n")
	return info
}

// unbounded says which limits hold less than they might.
func (s *system) unbounded() string {
	notice := ""
	switch abi := jail.LandlockABI(); {
	case abi == 0:
		notice += " Landlock is missing in this kernel."
	case s.tier == Restricted && abi < jail.LandlockSignalABI:
		notice += " Programs can send signals to other processes of their user."
	}
	if !s.private {
		notice += " Programs can hold locks on files of the system and of the skill that others use."
	}
	bounds := s.cgroups.Bounds()
	if !bounds.Memory {
		notice += " Memory is bounded for each process, not for all of them together: there is no memory cgroup to use."
	}
	if s.tier == Restricted && !bounds.Processes {
		notice += " The number of processes is not bounded."
	}
	if !bounds.CPUs {
		notice += " Processor time is not bounded: there is no cpu cgroup to use."
	}
	return notice
}
