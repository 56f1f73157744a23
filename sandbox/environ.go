package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// reservedEnv are the variables that tell a program where it is.
var reservedEnv = []string{"HOME", "PATH", "SKILL_DIR", "TMPDIR", "WORKSPACE"}

// Environ gives the environment of a run, sorted: the backend's own variables
// in base, and s.Env, which may replace those that are not reserved. Errors
// are of type [SetupError].
func (s Spec) Environ(base map[string]string) ([]string, error) {
	merged := make(map[string]string, len(base)+len(s.Env))
	for name, value := range base {
		merged[name] = value
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
