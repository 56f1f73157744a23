//go:build amd64 || arm64

package local_test

import (
	"log/slog"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func opener(tier local.Tier) func(testing.TB) sandbox.Backend {
	return func(t testing.TB) sandbox.Backend {
		t.Helper()
		backend, err := local.New(t.Context(), local.Options{
			Tier:   tier,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return backend
	}
}

func TestContractFull(t *testing.T) {
	sandboxtest.Run(t, opener(local.Full))
	asNobodyToo(t)
}

func TestContractRestricted(t *testing.T) {
	sandboxtest.Run(t, opener(local.Restricted))
	asNobodyToo(t)
}
