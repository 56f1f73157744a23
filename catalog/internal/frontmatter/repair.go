package frontmatter

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// edit puts a text in the place of one that stands on a line, both from 0.
type edit struct {
	line, offset int
	old, now     string
}

// RepairDocument returns an entry document whose frontmatter begins it, lines end in
// LF, and YAML is repaired, or the document itself where it has no frontmatter.
func RepairDocument(data []byte) []byte {
	if !utf8.Valid(data) {
		return data
	}
	text := bytes.TrimPrefix(data, byteOrderMark)
	text = LineFeeds(text)
	p := Split(&problem.Report{}, text, true)
	if !p.Found {
		return data
	}
	begin := bytes.Index(text, []byte("---")) // only blank lines are before it
	begin = bytes.LastIndexByte(text[:begin], '\n') + 1
	yaml := len(text) - len(p.Body) // the end of the line that ends it
	closing := bytes.LastIndexByte(bytes.TrimSuffix(text[:yaml], []byte("\n")), '\n') + 1
	return bytes.Join([][]byte{text[begin : closing-len(p.YAML)], repair(p.YAML), text[closing:]}, nil)
}

// LineFeeds returns a text whose lines end in LF, and not in CR LF or CR.
func LineFeeds(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// repair returns YAML in which values are quoted that other readers refuse or take
// for another type, and allowed-tools is spelled so. What it says is the same. What
// cannot be read stays as it is.
func repair(source []byte) []byte {
	repaired := quoteColons(bytes.TrimPrefix(source, byteOrderMark))
	m, ok := Decode(&problem.Report{}, repaired, 1)
	if !ok {
		return source
	}
	lines := strings.Split(string(repaired), "\n")
	edits := m.edits()
	for _, e := range slices.Backward(edits) { // each leaves what is before it in place
		at := offsetOf(lines[e.line], e.offset+1)
		rest, found := strings.CutPrefix(lines[e.line][at:], e.old)
		if !found {
			return source // a key or value in a form that is not foreseen
		}
		lines[e.line] = lines[e.line][:at] + e.now + rest
	}
	repaired = []byte(strings.Join(lines, "\n"))
	if _, ok := Decode(&problem.Report{}, repaired, 1); !ok {
		return source
	}
	return repaired
}

// quoteColons quotes the values that are plain and hold a colon, unless a comment
// may be part of one.
func quoteColons(source []byte) []byte {
	lines := strings.Split(string(source), "\n")
	_, quoted, err := parseForgiving(source)
	if err != nil || len(quoted) == 0 {
		return source
	}
	for _, first := range slices.Compact(slices.Sorted(slices.Values(quoted))) {
		found := plainValue().FindStringSubmatch(lines[first])
		end := continuation(lines, first, len(found[1]))
		if strings.Contains(strings.Join(lines[first:end], "\n"), " #") {
			return source
		}
		if _, ok := quoteValue(lines, first); !ok {
			return source
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// edits returns what is to be done to a mapping, in the order of the text.
func (m Mapping) edits() (edits []edit) {
	keys := map[string]bool{}
	for _, field := range m.Fields {
		keys[field.Key] = true
	}
	for _, field := range m.Fields {
		switch {
		case field.Key == "allowed_tools" && !keys["allowed-tools"]:
			edits = append(edits, edit{field.At.Line - 1, field.At.Column - 1, "allowed_tools", "allowed-tools"})
		case field.Key == "name" || field.Key == "description":
			edits = append(edits, field.Value.quoted()...)
		case field.Key == "metadata" && field.Value.IsMapping():
			for _, entry := range field.Value.Fields() {
				edits = append(edits, entry.Value.quoted()...)
			}
		}
	}
	return edits
}

// quoted returns the edit that makes a plain scalar a string, if it is none.
func (v Value) quoted() []edit {
	if v.node == nil || v.node.Kind != yaml.ScalarNode || v.node.Style != 0 || v.IsString() || v.node.Value == "" || v.IsNull() && isNullWord(v.node.Value) {
		return nil
	}
	text := v.node.Value
	return []edit{{v.At().Line - 1, v.At().Column - 1, text, "'" + text + "'"}}
}

// isNullWord reports whether a text is null in YAML, and no number that JSON has not.
func isNullWord(text string) bool { return text == "~" || strings.EqualFold(text, "null") }
