package frontmatter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generatedDocuments returns n documents made of everything that YAML has,
// nested at random. The same n and seed give the same documents.
func generatedDocuments(n int, seed uint64) []document {
	documents := make([]document, n)
	for i := range documents {
		g := &generator{rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		d := document{origin: "generated", yaml: header + g.blockMap(0, 0)}
		switch i % 12 {
		case 0:
			d.origin += ", with carriage returns"
			d.yaml, d.fence = strings.ReplaceAll(d.yaml, "\n", "\r\n"), "---\r\n"
		case 1:
			d.origin += ", after a byte-order mark"
			d.mark = "\ufeff"
		case 2:
			d.origin += ", with an end"
			d.yaml += "...\n"
		}
		documents[i] = d
	}
	return documents
}

// generator writes one document.
type generator struct {
	rand    *rand.Rand
	anchors []string // that an alias may name
	count   int
}

func (g *generator) chance(percent int) bool { return g.rand.IntN(100) < percent }

func pick[T any](g *generator, from []T) T { return from[g.rand.IntN(len(from))] }

// maxDepth bounds how deep the values nest.
const maxDepth = 4

// blockMap writes a block mapping whose keys stand at the indentation.
func (g *generator) blockMap(indentation, depth int) string {
	var out strings.Builder
	pad := strings.Repeat(" ", indentation)
	for _, key := range g.keys(1 + g.rand.IntN(5)) {
		out.WriteString(g.noise(indentation))
		switch {
		case g.chance(6):
			fmt.Fprintf(&out, "%s? %s%s%s:%s", pad, key, g.lineEnd(), pad, g.value(indentation, depth))
		case g.chance(4):
			fmt.Fprintf(&out, "%s%s :%s", pad, key, g.value(indentation, depth))
		default:
			fmt.Fprintf(&out, "%s%s:%s", pad, key, g.value(indentation, depth))
		}
	}
	return out.String()
}

// blockList writes a block sequence whose dashes stand at the indentation.
func (g *generator) blockList(indentation, depth int) string {
	var out strings.Builder
	pad := strings.Repeat(" ", indentation)
	for range 1 + g.rand.IntN(4) {
		out.WriteString(g.noise(indentation))
		out.WriteString(pad + "-")
		switch {
		case depth < maxDepth && g.chance(15):
			inner := strings.TrimLeft(g.compact(indentation+2, depth+1), " ")
			out.WriteString(" " + inner)
		default:
			out.WriteString(g.value(indentation, depth))
		}
	}
	return out.String()
}

// compact writes a collection that begins on the line of a dash.
func (g *generator) compact(indentation, depth int) string {
	named := len(g.anchors)
	for {
		g.anchors = g.anchors[:named] // those of the last attempt are not there
		text := ""
		if g.chance(70) {
			text = g.blockMap(indentation, depth)
		} else {
			text = g.blockList(indentation, depth)
		}
		// A comment or an empty line in front would end the line of the dash.
		if first := strings.TrimLeft(text, " "); !strings.HasPrefix(first, "#") && !strings.HasPrefix(first, "\n") {
			return text
		}
	}
}

// value writes what follows a colon or a dash, with the end of the line. The
// parent stands at the indentation.
func (g *generator) value(indentation, depth int) string {
	properties, named := g.properties()
	if named == "" && len(g.anchors) > 0 && g.chance(5) {
		return g.spaces() + "*" + pick(g, g.anchors) + g.lineEnd()
	}
	text := ""
	switch kind := g.rand.IntN(100); {
	case depth < maxDepth && kind < 12:
		text = g.lineEnd() + g.blockMap(indentation+1+g.rand.IntN(4), depth+1)
	case depth < maxDepth && kind < 22:
		text = g.lineEnd() + g.blockList(indentation+g.rand.IntN(3)+min(depth, 1), depth+1)
	case depth < maxDepth && kind < 38:
		text = " " + g.flow(indentation, depth+1) + g.lineEnd()
	case kind < 50:
		text = " " + g.blockScalar(indentation)
	case kind < 60:
		text = " " + g.multiLine(indentation) + g.lineEnd()
	case kind < 70:
		text = g.lineEnd()
	default:
		text = g.spaces() + g.scalar(false) + g.lineEnd()
	}
	if named != "" {
		g.anchors = append(g.anchors, named)
	}
	return properties + text
}

// properties writes an anchor, which only what follows may name, or nothing.
func (g *generator) properties() (text, anchor string) {
	if !g.chance(8) {
		return "", ""
	}
	g.count++
	name := fmt.Sprintf("a%d", g.count)
	return " &" + name, name
}

func (g *generator) spaces() string { return strings.Repeat(" ", 1+g.rand.IntN(2)) }

// lineEnd writes the end of a line, maybe with a comment.
func (g *generator) lineEnd() string {
	switch {
	case g.chance(8):
		return " # " + pick(g, comments) + "\n"
	case g.chance(4):
		return " \n"
	}
	return "\n"
}

// noise writes empty lines and comments.
func (g *generator) noise(indentation int) string {
	switch {
	case g.chance(5):
		return "\n"
	case g.chance(4):
		return strings.Repeat(" ", indentation) + "# " + pick(g, comments) + "\n"
	case g.chance(2):
		return strings.Repeat(" ", g.rand.IntN(6)) + "#" + pick(g, comments) + "\n"
	}
	return ""
}

var comments = []string{"a", "a: b", "- a", "'", "\"", "# #", "é 😀", "[", "{ \\", "&a *b !c", "---", ""}

// blockScalar writes a literal or folded scalar. The parent stands at the
// indentation.
func (g *generator) blockScalar(indentation int) string {
	deeper := 1 + g.rand.IntN(4)
	content := pick(g, blockContents)
	for strings.Contains(content, "\u2028") { // a form of its own
		content = pick(g, blockContents)
	}
	indicator := ""
	first := strings.TrimLeft(content, "\n")
	if g.chance(40) || strings.HasPrefix(first, " ") || strings.HasPrefix(first, "\t") {
		indicator = fmt.Sprint(deeper)
	}
	marks := []string{indicator, pick(g, []string{"", "-", "+"})}
	if g.chance(50) {
		slices.Reverse(marks)
	}
	return pick(g, []string{"|", ">"}) + strings.Join(marks, "") + g.lineEnd() + indentedBy(indentation+deeper, content)
}

// flow writes a flow collection, maybe over several lines.
func (g *generator) flow(indentation, depth int) string {
	open, shut := "[", "]"
	var items []string
	if g.chance(50) {
		open, shut = "{", "}"
		for _, key := range g.keys(g.rand.IntN(4)) {
			items = append(items, g.flowPair(key, indentation, depth))
		}
	} else {
		for range g.rand.IntN(5) {
			items = append(items, g.flowValue(indentation, depth))
		}
		if len(items) > 0 && g.chance(10) {
			items = append(items, g.flowPair("p", indentation, depth))
		}
	}
	if len(items) > 0 && g.chance(15) {
		items[len(items)-1] += ","
	}
	gap := pick(g, []string{" ", " ", "", "  ", "\n" + strings.Repeat(" ", indentation+2), " # " + pick(g, comments) + "\n" + strings.Repeat(" ", indentation+1)})
	if gap == "" {
		return open + strings.Join(items, ", ") + shut
	}
	return open + gap + strings.Join(items, ","+gap) + gap + shut
}

func (g *generator) flowPair(key string, indentation, depth int) string {
	switch {
	case g.chance(10):
		return key
	case g.chance(10):
		return key + ": "
	case g.chance(5):
		return "? " + key + " : " + g.flowValue(indentation, depth)
	case strings.HasPrefix(key, "\"") && g.chance(30):
		return key + ":" + doubleQuoted(pick(g, words))
	}
	return key + ": " + g.flowValue(indentation, depth)
}

func (g *generator) flowValue(indentation, depth int) string {
	switch kind := g.rand.IntN(100); {
	case depth < maxDepth && kind < 20:
		return g.flow(indentation, depth+1)
	case kind < 26 && len(g.anchors) > 0:
		return "*" + pick(g, g.anchors) + " "
	case kind < 30:
		return pick(g, []string{"''", "\"\"", "null", "~", "[]", "{}"})
	}
	return g.scalar(true)
}
