package layers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

// BenchmarkCopy says what a copy of 10,000 small files costs: made new, brought
// up to date where nothing is new, and looked through after a run.
func BenchmarkCopy(b *testing.B) {
	w := newWorkbench(b)
	for i := range 10_000 {
		plant(b, w.user, fmt.Sprintf("%d/%d=%d", i/100, i, i))
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			w.merge(b, layers.Options{})
		}
	})
	made := w.merge(b, layers.Options{})
	b.Run("store-nothing", func(b *testing.B) {
		for b.Loop() {
			w.store(b, made)
		}
	})
	waitSettled(b, w, filepath.Join(w.user, "99/9999"))
	made = w.merge(b, layers.Options{Last: made})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			made = w.merge(b, layers.Options{Last: made})
		}
	})
	if err := tempdir.Remove(w.copy); err != nil && !os.IsNotExist(err) {
		b.Error(err)
	}
}
