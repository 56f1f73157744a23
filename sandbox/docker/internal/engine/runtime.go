package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrPodmanRuntime means that Podman would run containers with another runtime
// than the one that was asked for.
var ErrPodmanRuntime = errors.New("the runtime is chosen by Podman's service")

// shimPrefix begins the names of runtimes that Docker knows without having been
// told of them, since version 23.
const shimPrefix = "io.containerd."

// loopbackRuntime is a runtime that brings up the loopback interface of the network
// namespaces that it makes. Of others that is not known.
const loopbackRuntime = "runc"

// Machine is what an engine runs containers with.
type Machine struct {
	// MilliCPUs is how much processor time there is that the engine can bound, in
	// thousandths of a processor; 0 where it cannot.
	MilliCPUs int
	// MemoryBytes is how much memory there is.
	MemoryBytes int64
	// Loopback reports that a container of the default runtime has a loopback
	// interface where the engine does nothing about its network.
	Loopback bool
}

// Machine returns what the engine says of its machine.
func (e *Engine) Machine(ctx context.Context) (Machine, error) {
	info, err := e.api.Info(ctx)
	if err != nil {
		return Machine{}, err
	}
	machine := Machine{MemoryBytes: info.MemTotal, Loopback: !e.Podman && info.DefaultRuntime == loopbackRuntime}
	if info.CPUCfsQuota && info.CPUCfsPeriod {
		machine.MilliCPUs = info.NCPU * 1000
	}
	return machine, nil
}

// NoRuntimeError means that the engine has no runtime of that name.
type NoRuntimeError struct {
	Name  string
	There []string // sorted
}

func (e *NoRuntimeError) Error() string {
	return fmt.Sprintf("the engine has no runtime %q, only %s", e.Name, strings.Join(e.There, ", "))
}

// CheckRuntime looks for a runtime among the engine's. The error is
// ErrPodmanRuntime or a NoRuntimeError.
func (e *Engine) CheckRuntime(ctx context.Context, name string) error {
	if e.Podman { // which would take any name, and make nothing of it
		return ErrPodmanRuntime
	}
	info, err := e.api.Info(ctx)
	if err != nil {
		return err
	}
	if _, found := info.Runtimes[name]; !found && !strings.HasPrefix(name, shimPrefix) {
		return &NoRuntimeError{Name: name, There: slices.Sorted(maps.Keys(info.Runtimes))}
	}
	return nil
}
