package layers_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

// choices are made by a text: each byte is one, and then there is no other.
type choices []byte

func (c *choices) IntN(n int) int {
	if len(*c) == 0 {
		return 0
	}
	next := int((*c)[0]) % n
	*c = (*c)[1:]
	return next
}

// Whatever layers hold and programs do, what is stored is what the next run sees,
// and the user's own stays as it is.
func FuzzStore(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		source := choices(text)
		s, b := scribe{&source, t}, newWorkbench(t)
		s.plant(b.user, false)
		s.plant(b.mask, true)
		s.plant(b.upper, true)
		user := list(t, b.user)
		made := b.merge(t, layers.Options{})
		s.scribble(b.copy)
		if s.IntN(4) == 0 {
			made.Doubt()
		}
		b.store(t, made)
		want := list(t, b.copy)
		for _, last := range []*layers.Manifest{made, nil} {
			b.merge(t, layers.Options{Last: last})
			if diff := cmp.Diff(want, list(t, b.copy)); diff != "" {
				t.Errorf("the next run sees (-want +got):\n%s", diff)
			}
		}
		if diff := cmp.Diff(user, list(t, b.user)); diff != "" {
			t.Errorf("the user's own (-before +after):\n%s", diff)
		}
		if err := tempdir.Remove(b.share.Changes); err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	})
}
