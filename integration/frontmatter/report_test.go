package frontmatter

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shown bounds how many documents at fault are printed.
const shown = 12

// report fails the test with the smallest documents that show a fault.
func report(t *testing.T, faults []difference) {
	t.Helper()
	if len(faults) == 0 {
		return
	}
	faults = shrink(t, faults)
	slices.SortStableFunc(faults, func(a, b difference) int {
		return cmp.Or(cmp.Compare(len(a.yaml), len(b.yaml)), cmp.Compare(nameless(a.yaml), nameless(b.yaml)), cmp.Compare(a.reader, b.reader))
	})
	groups := slices.Collect(chunkBy(faults, func(d difference) string { return nameless(d.yaml) }))
	for _, same := range groups[:min(len(groups), shown)] {
		var out strings.Builder
		d := same[0]
		fmt.Fprintf(&out, "%s\n%s    %+q\n", d.origin, indentedBy(8, d.yaml), d.yaml)
		fmt.Fprintf(&out, "    skills-mcp: %s\n    %s: %s\n    %s: %s\n", d.ours, javascript, d.javascript, core, d.core)
		sameReader := func(a, b difference) bool { return a.reader == b.reader }
		for _, d := range slices.CompactFunc(same, sameReader) {
			fmt.Fprintf(&out, "    unlike %s: %s\n", d.reader, firstLine(d.what))
		}
		t.Error(out.String())
	}
	if len(groups) > shown {
		t.Errorf("and %d more", len(groups)-shown)
	}
}

// nameless leaves the name out, which tells documents apart that are the same.
func nameless(yaml string) string { return documentName.ReplaceAllString(yaml, "") }

var documentName = regexp.MustCompile(`document-[0-9]{5}`)

// chunkBy returns runs of what has the same key.
func chunkBy(all []difference, key func(difference) string) iter.Seq[[]difference] {
	return func(yield func([]difference) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && key(all[n]) == key(all[0]) {
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// String tells an outcome in a line.
func (o outcome) String() string {
	if o.refusal != "" {
		return "refuses it: " + firstLine(o.refusal)
	}
	return fmt.Sprintf("%.300s", o.text)
}

// summary reports how much was compared with whom, and how often which intended
// difference was met.
func summary(readings []reading, used map[string]int) string {
	asIs, yaml11 := 0, 0
	for _, r := range readings {
		if r.ruamel.asked {
			asIs++
		}
		if r.pyyaml.asked {
			yaml11++
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d documents, %d of them published; %d also compared with %s as it comes, %d with %s\n",
		len(readings), published(readings), asIs, ruamel, yaml11, pyyaml)
	for _, kind := range intendedDifferences {
		fmt.Fprintf(&out, "%5d × %s\n", used[kind.name], kind.name)
	}
	return out.String()
}
