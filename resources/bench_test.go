package resources_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/resources"
)

func BenchmarkResolve(b *testing.B) {
	s := published(b)
	for b.Loop() {
		if _, _, err := resources.Resolve(s, "skill://acme/billing/refunds/references/my%20guide.md"); err != nil {
			b.Fatal(err)
		}
	}
}
