package docker_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
)

// together is a test that ends when all have, for what they share.
type together struct{ testing.TB }

// after is what comes then.
var after struct {
	mu     sync.Mutex
	do     []func()
	failed bool
}

func (together) Cleanup(do func()) {
	after.mu.Lock()
	defer after.mu.Unlock()
	after.do = append(after.do, do)
}

func (together) Context() context.Context { return context.Background() }

func (together) Output() io.Writer { return io.Discard }

func (together) Error(said ...any) {
	after.mu.Lock()
	defer after.mu.Unlock()
	after.failed = true
	fmt.Fprintln(os.Stderr, said...)
}

func (t together) Errorf(format string, said ...any) { t.Error(fmt.Sprintf(format, said...)) }

// endTogether does what comes after all tests, and reports whether it went well.
func endTogether() bool {
	for _, do := range slices.Backward(after.do) {
		do()
	}
	return !after.failed
}

// backend is one that tests share.
type backend struct {
	once   sync.Once
	opened *docker.Backend // nil where it cannot be
	open   func(testing.TB) *docker.Backend
}

var (
	cold    = backend{open: openCold}
	copying = backend{open: openCopying}
)

// openCold opens a backend, until the end of the test, that starts nothing ahead:
// where each run has directories of its own, that would be for nothing.
func openCold(t testing.TB) *docker.Backend {
	t.Helper()
	backend := openUntilEnd(t)
	backend.SetWarmMax(0)
	return backend
}

func (b *backend) get(t testing.TB) *docker.Backend {
	t.Helper()
	b.once.Do(func() { b.opened = b.open(together{t}) })
	if b.opened == nil {
		return b.open(t) // which says why
	}
	return b.opened
}

// shared returns a backend that other tests use at the same time, or skips the
// test as [open] does. It starts nothing ahead.
func shared(t testing.TB) *docker.Backend { t.Helper(); return cold.get(t) }

// sharedCopying is [shared] for an engine that shares no directories.
func sharedCopying(t testing.TB) *docker.Backend { t.Helper(); return copying.get(t) }
