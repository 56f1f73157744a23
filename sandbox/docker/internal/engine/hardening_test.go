package engine

import (
	"errors"
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
