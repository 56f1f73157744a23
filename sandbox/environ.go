package sandbox

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// reservedEnv are the variables that tell a program where it is.
var reservedEnv = []string{"HOME", "PATH", "SKILL_DIR", "TMPDIR", "WORKSPACE"}

// Places are where a run's directories are for its program. SkillDir is empty
// where the run has none.
type Places struct{ SkillDir, Workspace, Home, Tmp string }

// Environ returns the environment of a run, sorted: the backend's own variables
// in base, those that tell of places, and s.Env, which may replace all that are
// not reserved. Errors are of type [SetupError].
//
// Python finds modules in the skill's directory, as on hosts that start
// programs there, before those of base's PYTHONPATH. An empty or relative
// element would stand for the workspace, where other skills write.
func (s Spec) Environ(base map[string]string, at Places) ([]string, error) {
	merged := maps.Clone(base)
	merged["HOME"], merged["TMPDIR"], merged["WORKSPACE"] = at.Home, at.Tmp, at.Workspace
	merged["PYTHONNOUSERSITE"] = "1"
	if at.SkillDir != "" {
		merged["SKILL_DIR"] = at.SkillDir
		if separator := string(os.PathListSeparator); !strings.Contains(at.SkillDir, separator) {
			merged["PYTHONPATH"] = strings.TrimSuffix(at.SkillDir+separator+base["PYTHONPATH"], separator)
		}
	}
	for name, value := range s.Env {
		if slices.ContainsFunc(reservedEnv, func(r string) bool { return strings.EqualFold(r, name) }) {
			return nil, &SetupError{
				Rule:    "env-reserved",
				Message: fmt.Sprintf("the variable %q belongs to the sandbox and cannot be set", name),
				Hint:    "Use another name.",
			}
		}
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, &SetupError{
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
