package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func plantMany(b *testing.B, n int) string {
	files := make(map[string]string, n)
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		files[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: Does number " + name + ". Use when asked for it.\n" +
			"license: MIT\nmetadata:\n  author: someone\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\n---\n# Body\n"
	}
	return plant(b, files)
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			roots := []catalog.Root{{Path: plantMany(b, n)}}
			b.ReportAllocs()
			for b.Loop() {
				c, err := catalog.Open(b.Context(), catalog.Options{Roots: roots})
				check(b, err)
				if len(c.Snapshot().Skills()) != n {
					b.Fatal("skills are missing")
				}
				check(b, c.Close())
			}
		})
	}
}

func BenchmarkRescanOneChange(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := plantMany(b, n)
			c := openDirs(b, dir)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				write(b, filepath.Join(dir, "skill-0500/SKILL.md"), skillText("skill-0500", fmt.Sprint(i)))
				if s := rescan(b, c); lookup(b, s, "skill-0500").Description != fmt.Sprint(i) {
					b.Fatal("the change was not seen")
				}
			}
		})
	}
}

// BenchmarkUpdate looks at what events told of: one save, or a skill that came
// and went.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		dir := plantMany(b, n)
		c := openDirs(b, dir)
		update, err := catalog.Follow(b.Context(), c)
		check(b, err)
		look := func(b *testing.B) {
			if enough, err := update(); err != nil || !enough {
				b.Fatal("everything was to be scanned", err)
			}
		}
		i := 0
		b.Run(fmt.Sprint("save/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i++
				write(b, filepath.Join(dir, "skill-0050/SKILL.md"), skillText("skill-0050", fmt.Sprint(i)))
				look(b)
				if lookup(b, c.Snapshot(), "skill-0050").Description != fmt.Sprint(i) {
					b.Fatal("the change was not seen")
				}
			}
		})
		b.Run(fmt.Sprint("new/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(b, filepath.Join(dir, "new/SKILL.md"), skillText("new", "x"))
				look(b)
				check(b, os.RemoveAll(filepath.Join(dir, "new")))
				look(b)
				if len(c.Snapshot().Skills()) != n {
					b.Fatal("the change was not seen")
				}
			}
		})
	}
}

func BenchmarkParseDocument(b *testing.B) {
	data := []byte(skillText("demo", "Does it. Use when asked for it."))
	b.ReportAllocs()
	for b.Loop() {
		catalog.ParseDocument("SKILL.md", data)
	}
}
