package contained_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

func BenchmarkRead(b *testing.B) {
	dir := filetest.Plant(b, map[string]string{
		"SKILL.md": strings.Repeat("Do this.\n", 300), "references/guide.md": "guide", "LICENSE": "Apache License",
	})
	opened := filetest.Open(b, dir, contained.Options{})
	for _, name := range []string{"SKILL.md", "references/guide.md", "LICENSE"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := filetest.Read(opened, name, contained.Range{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, size := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir := filetest.Plant(b, nil)
			for i := range size {
				testfiles.Write(b, filepath.Join(dir, fmt.Sprintf("file-%06d.md", i)), "")
			}
			opened := filetest.Open(b, dir, contained.Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := opened.List(".", 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
