//go:build amd64 || arm64

package local

import (
	"errors"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// seclude has directories shown by files of the run's own, so that no program
// can lock what others use: those below which nothing is mounted. They have the
// same names on the host, but for the skill, which is a copy without mounts.
func (e *enclosure) seclude(mounts []jail.Mount) {
	for i := range mounts {
		mount := &mounts[i]
		mount.Private = e.system.private && mount.Dir && !mount.Writable && !hasMountsBelow(e.mounts, mount.Target)
	}
}

func hasMountsBelow(table, dir string) bool {
	dir = escapes.Replace(dir) + "/"
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir) {
			return true
		}
	}
	return false
}

// concede reports whether an error is that of a kernel that can isolate
// programs, but not in all that is asked for, which is not asked for then.
func (s *system) concede(err error) bool {
	if s.asNobody { // who may not go to where temporary files are, perhaps
		s.asNobody = false
		return true
	}
	var step *supervisor.StepError
	if s.private && errors.As(err, &step) && step.Step == jail.StepCover {
		s.private = false
		return true
	}
	return false
}
