package host

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// baseEnv is the part of the environment that is the same in all runs. It is
// an allow-list: of the server's own environment only TZ passes, and what
// Windows programs cannot start without.
func baseEnv(path process.SearchPath) map[string]string {
	env := map[string]string{
		"PATH":   path.String(),
		"LANG":   "C.UTF-8",
		"LC_ALL": "C.UTF-8",
	}
	passed := []string{"TZ"}
	if runtime.GOOS == "windows" {
		passed = append(passed, "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT")
	}
	for _, name := range passed {
		if value, set := os.LookupEnv(name); set {
			env[name] = value
		}
	}
	return env
}

// environ returns the environment of one run.
func (b *Backend) environ(spec sandbox.Spec) ([]string, error) {
	own := scratch.Owned(spec)
	at := command.Dirs{
		Skill: spec.SkillDir, Workspace: spec.Workspace,
		Home: filepath.Join(own, scratch.Home), Tmp: filepath.Join(own, scratch.Tmp),
	}
	env := maps.Clone(b.base)
	if runtime.GOOS == "windows" {
		env["USERPROFILE"], env["TEMP"], env["TMP"] = at.Home, at.Tmp, at.Tmp
	}
	return command.Environ(spec, env, at)
}
