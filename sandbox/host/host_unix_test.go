//go:build unix && !linux

package host_test

import (
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func TestContract(t *testing.T) {
	const escaped = "a process that leaves the process group goes on"
	except := slices.Clone(unbounded)
	for _, name := range []string{"session", "daemon", "daemon-without-environment", "chain"} {
		except = append(except,
			sandboxtest.Exclusion{Case: "survivors-at-exit-" + name, Reason: escaped},
			sandboxtest.Exclusion{Case: "survivors-at-cancel-" + name, Reason: escaped})
	}
	except = append(except, sandboxtest.Exclusion{Case: "survivors-at-timeout", Reason: escaped})
	except = append(except, sandboxtest.Exclusion{Case: "left-behind", Reason: "nobody can tell what is in the process group"})
	sandboxtest.Run(t, open, except...)
}
