//go:build !linux || (!amd64 && !arm64)

package local

import (
	"context"
	"fmt"
	"runtime"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// system is what a backend needs of the operating system.
type system struct{}

func open(context.Context, Options) (*Backend, error) {
	return nil, fmt.Errorf("%w: the local sandbox is for Linux on amd64 and arm64, and this is %s on %s; run the server in a Linux virtual machine or container",
		sandbox.ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

func (*system) check(sandbox.Spec) (process.Start, error) { return nil, sandbox.ErrUnavailable }

func (*system) release() {}
