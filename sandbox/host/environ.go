package host

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// environ returns the environment of one run.
func (b *Backend) environ(spec sandbox.Spec) ([]string, error) {
	own := scratch.Owned(spec)
	at := command.Dirs{
		Skill: spec.SkillDir, Workspace: spec.Workspace,
		Home: filepath.Join(own, scratch.Home), Tmp: filepath.Join(own, scratch.Tmp),
	}
	var windows map[string]string
	if runtime.GOOS == "windows" {
		windows = map[string]string{"USERPROFILE": at.Home, "TEMP": at.Tmp, "TMP": at.Tmp}
		for _, name := range []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"} { // no program starts without
			if value, set := os.LookupEnv(name); set {
				windows[name] = value
			}
		}
	}
	return command.Environ(spec, b.path.String(), windows, at)
}
