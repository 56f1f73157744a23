package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// What takes long is said on a terminal, and taken away when it has ended.
func TestProgress(t *testing.T) {
	t.Parallel()
	control, at := newTerminal(t)
	defer at.Close()
	terminal.Progress(at, "what is short")()
	done := terminal.Progress(at, "packing\x1b[2J greet")
	if shown := readUntil(t, control, "s"); !strings.HasPrefix(shown, "\r\x1b[K… packing[2J greet, ") {
		t.Errorf("it shows %q", shown)
	}
	done()
	done()
	if shown := readUntil(t, control, "\r\x1b[K"); strings.Contains(shown, "short") {
		t.Errorf("it shows %q", shown)
	}
	var pipe bytes.Buffer
	terminal.Progress(&pipe, "packing")()
	if pipe.Len() > 0 {
		t.Errorf("what is no terminal gets %q", &pipe)
	}
}
