package frontmatter

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

// Bounds of shrinking: what is left to do is for the reader of the failure.
const (
	shrunkDocuments = 40 // smallest faults that are shrunk
	shrinkRounds    = 8
)

// shrink returns, for each document with a fault, the smallest one found that
// still has a fault in front of the same reader, by leaving out lines.
func shrink(t *testing.T, faults []difference) []difference {
	t.Helper()
	slices.SortStableFunc(faults, func(a, b difference) int { return cmp.Compare(len(a.yaml), len(b.yaml)) })
	best := map[string]difference{} // by what the first document was and by the reader
	var order []string
	for _, d := range faults {
		key := d.reader + d.yaml
		if _, known := best[key]; !known && len(order) < shrunkDocuments {
			order = append(order, key)
			best[key] = d
		}
	}
	for range shrinkRounds {
		var variants []document
		var of []string
		for _, key := range order {
			for _, v := range shorter(best[key].document) {
				variants, of = append(variants, v), append(of, key)
			}
		}
		if len(variants) == 0 {
			break
		}
		smaller := false
		for i, r := range readAll(t, variants) {
			for _, d := range r.differences() {
				if key := of[i]; d.kind() == "" && best[key].like(d) && len(d.yaml) < len(best[key].yaml) {
					best[key], smaller = d, true
				}
			}
		}
		if !smaller {
			break
		}
	}
	shrunk := make([]difference, len(order))
	for i, key := range order {
		shrunk[i] = best[key]
	}
	return shrunk
}

// shorter returns the documents that are made by leaving out some lines: a half
// of them, a quarter, and so on down to one.
func shorter(d document) []document {
	if !strings.HasPrefix(d.template, header) {
		return nil
	}
	lines := strings.SplitAfter(strings.TrimPrefix(d.template, header), "\n")
	var found []document
	for size := len(lines) / 2; size >= 1; size /= 2 {
		for at := 0; at+size <= len(lines) && len(found) < 30; at += size {
			yaml := header + strings.Join(lines[:at], "") + strings.Join(lines[at+size:], "")
			found = append(found, document{origin: d.origin, yaml: yaml, mark: d.mark, fence: d.fence})
		}
	}
	return found
}

// like reports whether another difference may stand for this one. Without the
// lines around it, a line can become an unquoted colon.
func (d difference) like(other difference) bool {
	colon := func(d difference) bool { return slices.Contains(d.ours.rules, "yaml-colon") }
	return d.reader == other.reader && colon(d) == colon(other)
}
