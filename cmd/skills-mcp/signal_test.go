package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// What a signal ends says which one it was.
func TestEndedBySignal(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupt signal received")) // as signal.NotifyContext has it
	var out strings.Builder
	code := run(ctx, []string{"pack", filepath.Join(testdata.Valid(), "brand-kit"), "-o", t.TempDir() + "/packed.skill"}, strings.NewReader(""), &out, &out)
	if want := "skills-mcp: interrupt signal received\n"; code != exit.Failure || out.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, out.String(), want)
	}
}
