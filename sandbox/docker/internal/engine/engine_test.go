package engine

import (
	"testing"

	"github.com/docker/docker/api/types/versions"
)

func TestOlderAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		older   bool
	}{{"1.40", true}, {"1.41", false}, {"1.9", true}, {"1.100", false}, {"2.0", false}, {"0.99", true}, {"", true}} {
		if got := versions.LessThan(c.version, minAPI); got != c.older {
			t.Errorf("%q is older: %t", c.version, got)
		}
	}
}
