package config

import (
	"cmp"
	"fmt"
	"strings"
)

// described is what every value is: it says in Markdown what it may be.
type described interface{ describe() string }

func (l list[T]) describe() string     { return "a list of " + l.means }
func (v visible) describe() string     { return "`true`, `false`, or a list of " + v.names().means }
func (s sections[T]) describe() string { return s.means }
func (s scalar[T]) describe() string   { return s.means }
func (g group) describe() string       { return "keys of its own" }

// Table returns a table of all keys in Markdown.
func Table() string {
	c := Default()
	var out strings.Builder
	out.WriteString("| key | for | default | flag, variable | a project's file |\n|---|---|---|---|---|\n")
	rows(&out, keys(&c), "")
	return out.String()
}

func rows(out *strings.Builder, g group, at string) {
	for _, f := range g {
		path := join(at, f.name)
		if inner, isGroup := f.value.(group); isGroup {
			rows(out, inner, path)
			continue
		}
		row(out, f, path, "`"+usual(f)+"`")
		switch items := f.value.(type) {
		case sections[Skill]:
			itemRows(out, items.itemFields(), path+".NAME.")
		case interface{ itemFields() group }:
			itemRows(out, items.itemFields(), path+"[].")
		}
	}
}

// itemRows writes the rows of keys that have no defaults.
func itemRows(out *strings.Builder, g group, at string) {
	for _, f := range g {
		inner, isGroup := f.value.(group)
		if isGroup && !inner.narrows() {
			itemRows(out, inner, at+f.name+".")
			continue
		}
		row(out, f, at+f.name, "")
		if secrets, isSecrets := f.value.(sections[Secret]); isSecrets {
			itemRows(out, secrets.itemFields(), at+f.name+".VARIABLE.")
		}
	}
}

// narrows reports whether a project's file may set any of the keys.
func (g group) narrows() (may bool) {
	g.leaves("", func(_ string, f field) { may = may || f.narrows != "" })
	return may
}

func row(out *strings.Builder, f field, path, usual string) {
	narrows := f.narrows
	if _, isGroup := f.value.(group); isGroup {
		narrows = "stricter"
	}
	fmt.Fprintf(out, "| `%s` | %s Value: %s. | %s | %s | %s |\n", path, f.doc, f.value.(described).describe(), usual, overrides(f), narrows)
}

// overrides returns by what a key is overridden.
func overrides(f field) string {
	if f.env == "" {
		return ""
	}
	variable := "`" + envPrefix + f.env + "`"
	if f.flag {
		return "`--" + cmp.Or(f.as, strings.ToLower(strings.ReplaceAll(f.env, "_", "-"))) + "`, " + variable
	}
	return variable
}

// usual returns a field's value as a file has it.
func usual(f field) string {
	p := &printer{}
	f.value.print(p, "", f.name)
	text := strings.TrimSpace(strings.TrimPrefix(p.out.String(), f.name+":"))
	if f.name == "roots" {
		return "the default folders"
	}
	return text
}
