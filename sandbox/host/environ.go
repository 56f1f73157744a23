package host

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// dirs returns a run's directories. A share is where the runner shows it.
func dirs(spec sandbox.Spec) command.Dirs {
	own := scratch.Owned(spec)
	at := command.Dirs{
		Skill: spec.SkillDir, Workspace: spec.Workspace,
		Home: filepath.Join(own, scratch.Home), Tmp: filepath.Join(own, scratch.Tmp),
	}
	if spec.Project && spec.Shares[0].Access != sandbox.AccessOff {
		at.Project = spec.Shares[0].Path
	}
	return at
}

// environ returns the environment of one run.
func (b *Backend) environ(spec sandbox.Spec, at command.Dirs) ([]string, error) {
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

// lookFrom returns the [command.Lookup] of a run that starts in a directory.
func (b *Backend) lookFrom(dir string) command.Lookup {
	return func(name string) (string, bool) {
		if name != filepath.Base(name) && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return b.path.Look(name)
	}
}
