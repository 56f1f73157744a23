package command

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// reservedEnv are the variables that tell a program where it is.
var reservedEnv = []string{"HOME", "PATH", "PROJECT", "SKILL_DIR", "TMPDIR", "WORKSPACE"}

// Dirs are a run's directories as its program sees them. Skill and Project are
// empty where the run has none.
type Dirs struct{ Skill, Workspace, Project, Home, Tmp string }

// Start returns the directory in which the program of a spec starts.
func (d Dirs) Start(s sandbox.Spec) string {
	switch {
	case s.InSkill:
		return d.Skill
	case s.InProject && d.Project != "":
		return d.Project
	}
	return d.Workspace
}

// Environ returns the environment of a run, sorted: a PATH, with s.Path before
// what the backend searches, the variables that
// name its directories, those of the backend, and s.Env, which may replace all
// that are not reserved; the backend's may not either. It is an allow-list: of the server's own environment
// only TZ passes. Errors are of type [sandbox.SetupError].
//
// Python finds modules in the skill's directory, as on hosts that start
// programs there, before those of the backend's PYTHONPATH. An empty or relative
// element would stand for the workspace, where other skills write. With s.Path,
// the backend's is left out: what is prepared for a skill must not be hidden by
// what the user has installed, for another Python perhaps.
func Environ(s sandbox.Spec, searchPath string, backend map[string]string, at Dirs) ([]string, error) {
	merged := map[string]string{
		"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONNOUSERSITE": "1",
		// What a program wrote before it was killed is kept.
		"PYTHONUNBUFFERED": "1",
	}
	if zone, set := os.LookupEnv("TZ"); set {
		merged["TZ"] = zone
	}
	maps.Copy(merged, backend)
	for _, name := range reservedEnv {
		delete(merged, name)
	}
	merged["HOME"], merged["TMPDIR"], merged["WORKSPACE"] = at.Home, at.Tmp, at.Workspace
	merged["PATH"] = extendPath(s.Path, searchPath)
	modules := backend["PYTHONPATH"]
	if len(s.Path) > 0 {
		modules = ""
		delete(merged, "PYTHONPATH")
	}
	if at.Project != "" {
		merged["PROJECT"] = at.Project
	}
	if at.Skill != "" {
		merged["SKILL_DIR"] = at.Skill
		if separator := string(os.PathListSeparator); !strings.Contains(at.Skill, separator) {
			merged["PYTHONPATH"] = strings.TrimSuffix(at.Skill+separator+modules, separator)
		}
	}
	for name, value := range s.Env {
		if slices.ContainsFunc(reservedEnv, func(r string) bool { return strings.EqualFold(r, name) }) {
			return nil, &sandbox.SetupError{
				Rule:    "env-reserved",
				Message: fmt.Sprintf("the variable %q belongs to the sandbox and cannot be set", name),
				Hint:    "Use another name.",
			}
		}
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, &sandbox.SetupError{
				Rule:    "env-invalid",
				Message: fmt.Sprintf("the variable %q cannot be set: no name may be empty or hold \"=\", nothing may hold NUL", name),
				Hint:    "Correct the name or the value.",
			}
		}
		merged[name] = value
	}
	list := make([]string, 0, len(merged))
	for name, value := range merged {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list, nil
}
