package resources_test

import (
	"context"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// snapshot scans roots.
func snapshot(t testing.TB, roots ...catalog.Root) *catalog.Snapshot {
	t.Helper()
	c, err := catalog.Open(context.Background(), catalog.Options{Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.Snapshot()
}
