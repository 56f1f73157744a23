package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errPodmanRuntime means that Podman would run containers with another runtime
// than the one that was asked for.
var errPodmanRuntime = errors.New("the runtime is chosen by Podman's service")

// shimPrefix begins the names of runtimes that Docker knows without having been
// told of them, since version 23.
const shimPrefix = "io.containerd."

// noRuntimeError means that the engine has no runtime of that name.
type noRuntimeError struct {
	name  string
	there []string // sorted
}

func (e *noRuntimeError) Error() string {
	return fmt.Sprintf("the engine has no runtime %q, only %s", e.name, strings.Join(e.there, ", "))
}

// checkRuntime looks for a runtime among the engine's. The error is
// errPodmanRuntime or a noRuntimeError.
func (e *engine) checkRuntime(ctx context.Context, name string) error {
	if e.podman { // which would take any name, and make nothing of it
		return errPodmanRuntime
	}
	info, err := e.api.Info(ctx)
	if err != nil {
		return err
	}
	if _, found := info.Runtimes[name]; !found && !strings.HasPrefix(name, shimPrefix) {
		return &noRuntimeError{name: name, there: slices.Sorted(maps.Keys(info.Runtimes))}
	}
	return nil
}
