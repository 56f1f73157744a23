package main

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/skills-mcp/skills-mcp/internal/redact"
)

var manual = flag.String("manual", "", "the directory to which the manual pages are written")

// TestManual writes a page for each command, with its flags.
func TestManual(t *testing.T) {
	dir := cmp.Or(*manual, t.TempDir())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := newRootCommand(&redact.Set{})
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "skills-mcp", Manual: "skills-mcp"}, dir); err != nil {
		t.Fatal(err)
	}
	expectPages(t, dir, root)
}

func expectPages(t *testing.T, dir string, command *cobra.Command) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(command.CommandPath(), " ", "-")+".1"))
	if err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(page), strings.ReplaceAll(command.Short, "-", `\-`)) && !strings.Contains(string(page), command.Short) {
		t.Errorf("the page of %q does not say %q", command.CommandPath(), command.Short)
	}
	for _, each := range command.Commands() {
		if each.IsAvailableCommand() {
			expectPages(t, dir, each)
		}
	}
}
