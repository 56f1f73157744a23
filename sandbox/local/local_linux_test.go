//go:build amd64 || arm64

package local_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func opener(tier local.Tier) func(testing.TB) sandbox.Backend {
	return func(t testing.TB) sandbox.Backend {
		t.Helper()
		backend, err := local.New(t.Context(), local.Options{
			Tier:   tier,
			Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		if err != nil {
			t.Fatal(err)
		}
		return backend
	}
}

// core are the cases to which it matters whose processes they are.
var core = []string{"exit-", "stdin-given", "artifacts-new", "owners-", "survivors-at-exit-", "survivors-at-cancel-daemon", "timeout", "hog-", "quota-bytes", "grant-show", "grant-egress", "library"}

// As an ordinary user less is tried of what was tried as root.
func TestContractFull(t *testing.T) {
	if again() && !testenv.All(t) {
		sandboxtest.RunSome(t, opener(local.Full), core)
		return
	}
	sandboxtest.Run(t, opener(local.Full))
	if os.Geteuid() == 0 && !testing.Short() {
		t.Run("as-nobody", runAsNobody) // as which most servers run
	}
}

func TestSharesFull(t *testing.T) {
	sandboxtest.RunShares(t, opener(local.Full), sandboxtest.Shares{Most: sandbox.AccessReview, Brief: testing.Short()})
	asNobodyToo(t)
}

// Where the kernel has no overlays, copies are in the place of shares.
func TestSharesFullByCopies(t *testing.T) {
	testenv.Slow(t, "the shares in another way")
	sandboxtest.RunShares(t, func(t testing.TB) sandbox.Backend {
		backend := opener(local.Full)(t)
		backend.(*local.Backend).DoWithoutOverlays()
		return backend
	}, sandboxtest.Shares{Most: sandbox.AccessReview, Copies: true, Brief: brief(t)})
	asNobodyToo(t)
}

func TestSharesRestricted(t *testing.T) {
	testenv.Slow(t, "the shares in the lesser tier")
	// Programs can change modes and times of their copy.
	copied := sandboxtest.Shares{Most: sandbox.AccessReview, Elsewhere: true, Discards: true, Brief: brief(t)}
	sandboxtest.RunShares(t, opener(local.Restricted), copied)
	asNobodyToo(t)
}

func TestContractRestricted(t *testing.T) {
	testenv.Slow(t, "the contract in the lesser tier")
	var except []sandboxtest.Exclusion
	if os.Geteuid() != 0 {
		except = []sandboxtest.Exclusion{{Case: "grant-show-attributes", Reason: "programs are the server's user, who owns what is shown"}}
	}
	sandboxtest.Run(t, opener(local.Restricted), except...)
	asNobodyToo(t)
}

// Memory is bounded for the run where there is a cgroup, and for each process
// elsewhere. What the backend says of itself tells which.
func TestMemoryIsBounded(t *testing.T) {
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		if !isBoundedAsAWhole(t, backend) {
			continue
		}
		result, err := backend.Run(t.Context(), sandbox.Spec{
			// Both processes together have too much, the second waits for the first.
			Shell:     `hog() { head -c 30000000 /dev/zero | { tail -c 30000000; sleep 30; } | sleep 31; }; hog & hog & wait; echo survived`,
			Workspace: t.TempDir(),
			Limits:    sandbox.Limits{MemoryBytes: 32 << 20},
		})
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != sandbox.OutOfMemory || result.PeakMemoryBytes < 32<<20 {
			t.Errorf("%s: ended as %q with %d bytes", tier, result.Status, result.PeakMemoryBytes)
		}
	}
}
