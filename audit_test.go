package skillsmcp_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// TestDocumentedRecord: docs/audit.md names every field of a record, in their
// order, and no other.
func TestDocumentedRecord(t *testing.T) {
	t.Parallel()
	const page = "docs/audit.md"
	fields := jsonNames(reflect.TypeFor[audit.Record]())
	_, table, _ := part(t, page, "record")
	var documented []string
	for row := range strings.Lines(table) {
		first, rest, _ := strings.Cut(row, " | ")
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1)
		for _, name := range names {
			documented = append(documented, name[1])
		}
		var inside reflect.Type
		switch {
		case strings.Contains(first, "`artifacts`"):
			inside = reflect.TypeFor[audit.File]()
		case strings.Contains(first, "`changes`"):
			inside = reflect.TypeFor[audit.Changes]()
		default:
			continue
		}
		for _, name := range jsonNames(inside) {
			if !strings.Contains(rest, "`"+name+"`") {
				t.Errorf("%s does not name %s in %s", page, name, first)
			}
		}
	}
	if diff := cmp.Diff(fields, documented); diff != "" {
		t.Errorf("%s, fields (-want +got):\n%s", page, diff)
	}
	for _, word := range []string{string(audit.Asked), string(audit.Denied), string(audit.Failed), string(audit.Unfinished), string(audit.Apply), string(audit.Answer)} {
		if !strings.Contains(table, "`"+word+"`") {
			t.Errorf("%s does not name %s", page, word)
		}
	}
}

// jsonNames returns the names of a struct's fields in JSON, in their order.
func jsonNames(of reflect.Type) []string {
	var names []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
