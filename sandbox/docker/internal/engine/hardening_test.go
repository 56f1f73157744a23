package engine

import (
	"errors"
	"math"
	"testing"
)

// An engine without the control groups that it needs only warns.
func TestLimitsThatAreDiscardedAreNotMissed(t *testing.T) {
	t.Parallel()
	for warning, refused := range map[string]bool{
		"Your kernel does not support memory limit capabilities or the cgroup is not mounted. Limitation discarded.":      true,
		"Your kernel does not support PIDs limit capabilities or the cgroup is not mounted. PIDs limit discarded.":        true,
		"Your kernel does not support swap limit capabilities or the cgroup is not mounted. Memory limited without swap.": false,
		"The requested image's platform (linux/arm64) does not match the detected host platform (linux/amd64)":            false,
	} {
		if err := discarded([]string{"", warning}); errors.Is(err, ErrUnbounded) != refused {
			t.Errorf("%q gives %v", warning, err)
		}
	}
}

// Or it does not even warn, and a container tells what it has been given.
func TestLimitsThatAreNotSetAreNotMissed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		memoryBytes, processes int64
		runtime                string
		refused                bool
	}{
		"as asked":               {64 << 20, 80, "", false},
		"rounded to pages":       {64<<20 - 4096, 80, "", false},
		"it does not tell":       {0, 0, "", false},
		"no bound on memory":     {math.MaxInt64, 80, "", true},
		"no bound on processes":  {64 << 20, math.MaxInt64, "", true},
		"those of somebody else": {64 << 20, 81, "", true},
		"a kernel of its own":    {math.MaxInt64, math.MaxInt64, "runsc", false},
	} {
		asked := Blueprint{Runtime: c.runtime, MemoryBytes: 64 << 20, Processes: 80}
		err := asked.CheckBounds(c.memoryBytes, c.processes)
		if errors.Is(err, ErrUnbounded) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
