package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// What a host loads of a server before the first question is the same however
// many skills there are.
func TestHandshakeSizeDoesNotGrowWithTheCatalog(t *testing.T) {
	t.Parallel()
	few, many := handshakeSize(t, 1), handshakeSize(t, 1000)
	if few != many {
		t.Errorf("initialize and tools/list take %d bytes with 1 skill and %d with 1000", few, many)
	}
}

// handshakeSize returns the bytes of the answers to initialize and tools/list.
func handshakeSize(t *testing.T, skills int) int {
	t.Helper()
	root := t.TempDir()
	for i := range skills {
		writeSkill(t, root, fmt.Sprintf("skill-%04d", i), strings.Repeat("A line of its body.\n", 20))
	}
	w := dial(t, program.Home(t), root)
	initialized := w.handshake(t)
	return len(initialized.raw) + len(w.call(t, "tools/list", map[string]any{}).raw)
}
