package frontmatter

import (
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// generatedCount is how many documents are made at random, besides those
// that are made from tables.
const generatedCount = 600

// TestFrontmatterIsWhatYAMLReadersRead compares the frontmatter that
// skills-mcp publishes with what readers in JavaScript and Python make of the
// same YAML, over every sample and over generated documents.
func TestFrontmatterIsWhatYAMLReadersRead(t *testing.T) {
	testenv.Slow(t, "has five readers read two thousand documents")
	requireReaders(t)
	generated := generatedDocuments(testenv.Rounds(t, generatedCount/4, generatedCount), 1)
	readings := readAll(t, slices.Concat(
		generated, sampleDocuments(t), scalarDocuments(), blockDocuments(), formDocuments()))
	if n := published(readings[:len(generated)]); n < len(generated)*95/100 {
		t.Errorf("only %d of %d documents made at random are published: the generator makes too many faults", n, len(generated))
	}
	used := map[string]int{}
	faults := unexplained(readings, used)
	for _, kind := range intendedDifferences {
		if used[kind.name] == 0 {
			t.Errorf("no document differs by %q any more", kind.name)
		}
	}
	report(t, faults)
	t.Logf("%s", summary(readings, used))
}

// unexplained returns the differences that are none of the intended ones, and
// counts those.
func unexplained(readings []reading, used map[string]int) []difference {
	var found []difference
	for _, r := range readings {
		for _, d := range r.differences() {
			if kind := d.kind(); kind != "" {
				used[kind]++
			} else {
				found = append(found, d)
			}
		}
	}
	return found
}

// published counts the documents that skills-mcp reads.
func published(readings []reading) int {
	n := 0
	for _, r := range readings {
		if r.ours.refusal == "" {
			n++
		}
	}
	return n
}
