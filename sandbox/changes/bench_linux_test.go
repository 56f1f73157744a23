package changes_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// BenchmarkScan shows that what it costs to know what programs did follows from
// that, and not from what is there: 10 files of 50, or of 50,000.
func BenchmarkScan(b *testing.B) {
	for _, files := range []int{50, 50_000} {
		b.Run(fmt.Sprintf("project=%d", files), func(b *testing.B) {
			f := setUp(b, nil)
			for i := range files {
				testfiles.Write(b, filepath.Join(f.project, "src", fmt.Sprint(i%100), fmt.Sprintf("file-%d.txt", i)), "text\n")
			}
			f.run(func(u upper) {
				for i := range 10 {
					u.write(fmt.Sprintf("src/%d/file-%d.txt", i, i), "changed\n")
				}
			})
			b.Run("held", func(b *testing.B) {
				for b.Loop() {
					if held := f.held(); len(held.Files) != 10 {
						b.Fatalf("%q", summary(held))
					}
				}
			})
			b.Run("run", func(b *testing.B) {
				for b.Loop() {
					f.run(func(upper) {})
				}
			})
		})
	}
}

// BenchmarkApply applies and undoes 10 files.
func BenchmarkApply(b *testing.B) {
	f := setUp(b, nil)
	for b.Loop() {
		f.run(func(u upper) {
			for i := range 10 {
				u.write(fmt.Sprintf("file-%d.txt", i), "changed\n")
			}
		})
		if _, err := f.store.Undo(b.Context(), f.apply().Undo); err != nil {
			b.Fatal(err)
		}
	}
}
