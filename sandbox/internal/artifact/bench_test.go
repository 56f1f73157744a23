package artifact_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

// BenchmarkWorkspace shows what it costs to know a workspace of 10,000 files, or
// of 50,000 directories: to list it, as before and after a run, and to measure
// it, as in between.
func BenchmarkWorkspace(b *testing.B) {
	files, dirs := b.TempDir(), b.TempDir()
	for i := range 10_000 {
		write(b, filepath.Join(files, "project", "src", fmt.Sprint(i%100), fmt.Sprintf("file-%d.txt", i)))
	}
	for i := range 50_000 {
		if err := os.MkdirAll(filepath.Join(dirs, "project", "src", fmt.Sprint(i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("files", func(b *testing.B) { benchmarkWays(b, files) })
	b.Run("directories", func(b *testing.B) { benchmarkWays(b, dirs) })
}

func benchmarkWays(b *testing.B, dir string) {
	ways := map[string]func() error{
		"list": func() error {
			_, err := artifact.Take(dir)
			return err
		},
		"measure": func() error {
			_, err := disk.Measure(dir, disk.Usage{Bytes: math.MaxInt64, Files: math.MaxInt}, nil)
			return err
		},
	}
	for name, way := range ways {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
