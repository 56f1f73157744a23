package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

// plainWord is a text that needs no quotes. That off is a text is what every
// reader of YAML 1.2 sees; this program's own files are read as such.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_./~][A-Za-z0-9_./~:=@+*-]*[A-Za-z0-9_./~*-]$|^[A-Za-z0-9/~.]$`)

// scalarYAML returns a text as YAML.
func scalarYAML(text string) string {
	if plainWord().MatchString(text) && !yamldoc.IsNumberLike(text) {
		return text
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out) // JSON strings are YAML's, but for what is escaped below
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always has an encoding
	return escapeDisputed(strings.TrimSuffix(out.String(), "\n"))
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// escapeDisputed escapes what readers of YAML disagree about.
func escapeDisputed(text string) string {
	var out strings.Builder
	for _, c := range text {
		if yamldoc.IsDisputed(c) || c == '\ufeff' {
			fmt.Fprintf(&out, "\\u%04x", c)
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

// printer writes a configuration as YAML, with where each value comes from.
type printer struct {
	out     strings.Builder
	depth   int
	dash    bool // the next line is the first of an item
	origins map[string]Origin
	bare    bool // leaves out where values come from, and whatever says nothing
}

// line writes a line, and where the value at a key's path comes from.
func (p *printer) line(text, at string) {
	indent := strings.Repeat("  ", p.depth)
	if p.dash {
		indent = indent[2:] + "- "
		p.dash = false
	}
	p.out.WriteString(indent + text)
	if at != "" && !p.bare {
		p.out.WriteString(" # " + escapeDisputed(originOf(p.origins, at).String()))
	}
	p.out.WriteString("\n")
}

// item writes an item of a list that is a mapping: the keys that say more than
// a blank item does, and the first.
func (p *printer) item(fields, blank group, at string) {
	p.depth++
	p.dash = true
	defer func() { p.depth-- }()
	for i, f := range fields {
		if i == 0 || f.differs(blank[i]) {
			f.value.print(p, join(at, f.name), f.name)
		}
	}
}

// differs reports whether another field of the same key says something else.
func (f field) differs(other field) bool {
	own, others := printer{bare: true}, printer{bare: true}
	f.value.print(&own, "", f.name)
	other.value.print(&others, "", f.name)
	return own.out.String() != others.out.String()
}

// otherFields returns the fields that say something else than blank ones, and
// their groups.
func otherFields(fields, blank group) (others group) {
	for i, f := range fields {
		if !f.differs(blank[i]) {
			continue
		}
		if below, isGroup := f.value.(group); isGroup {
			f.value = otherFields(below, blank[i].value.(group))
		}
		others = append(others, f)
	}
	return others
}

// section writes the keys of a section that were set.
func (p *printer) section(fields, blank group, at, key string) {
	set := setFields(fields, at, p.origins)
	if p.bare {
		set = otherFields(fields, blank)
	}
	if len(set) == 0 {
		p.line(key+": {}", at)
		return
	}
	set.print(p, at, key)
}

// setFields returns the fields that were set, and their groups.
func setFields(fields group, at string, origins map[string]Origin) (set group) {
	for _, f := range fields {
		where := join(at, f.name)
		if below, isGroup := f.value.(group); isGroup {
			if f.value = setFields(below, where, origins); len(f.value.(group)) == 0 {
				continue
			}
		} else if _, given := origins[where]; !given {
			continue
		}
		set = append(set, f)
	}
	return set
}

// originOf returns where the value at a key's path comes from: itself, or the
// list or group that it is part of.
func originOf(origins map[string]Origin, at string) Origin {
	for at != "" {
		if origin, found := origins[at]; found {
			return origin
		}
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	return Origin{}
}
