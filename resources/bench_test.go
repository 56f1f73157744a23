package resources_test

import (
	"fmt"
	"path/filepath"
	"strings"
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

func BenchmarkRead(b *testing.B) {
	dir := plant(b, map[string]string{
		"SKILL.md": strings.Repeat("Do this.\n", 300), "references/guide.md": "guide", "LICENSE": "Apache License",
	})
	tree := open(b, dir)
	for _, name := range []string{"SKILL.md", "references/guide.md", "LICENSE"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tree.Read(name, resources.Range{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, size := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir := plant(b, nil)
			for i := range size {
				write(b, filepath.Join(dir, fmt.Sprintf("file-%06d.md", i)), "")
			}
			tree := open(b, dir)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := tree.List(".", 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
