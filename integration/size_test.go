package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// What a host loads of a server before the first question is bounded, however
// many skills there are.
func TestHandshakeSizeIsBounded(t *testing.T) {
	t.Parallel()
	const instructions = 2048 // bytes, which name the skills
	few, fewTools := handshakeSize(t, 1)
	many, manyTools := handshakeSize(t, 1000)
	if many > few+instructions || manyTools != fewTools {
		t.Errorf("initialize and tools/list take %d and %d bytes with 1 skill, %d and %d with 1000", few, fewTools, many, manyTools)
	}
}

// handshakeSize returns the bytes of the answers to initialize and tools/list.
func handshakeSize(t *testing.T, skills int) (initialize, tools int) {
	t.Helper()
	root := t.TempDir()
	for i := range skills {
		writeSkill(t, root, fmt.Sprintf("skill-%04d", i), strings.Repeat("A line of its body.\n", 20))
	}
	w := dial(t, program.Home(t), root)
	initialized := w.handshake(t)
	return len(initialized.raw), len(w.call(t, "tools/list", map[string]any{}).raw)
}
