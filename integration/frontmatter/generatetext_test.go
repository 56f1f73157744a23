package frontmatter

import (
	"fmt"
	"slices"
	"strings"
)

// keys returns n keys that differ.
func (g *generator) keys(n int) []string {
	var keys, texts []string
	for len(keys) < n {
		text := pick(g, keyTexts)
		if slices.Contains(texts, text) {
			continue
		}
		texts = append(texts, text)
		switch {
		case g.chance(15) || !plainKey(text):
			keys = append(keys, doubleQuoted(text))
		case g.chance(15):
			keys = append(keys, singleQuoted(text))
		default:
			keys = append(keys, text)
		}
	}
	return keys
}

// plainKey reports whether a key may stand without quotes and is a string then.
func plainKey(text string) bool {
	return !slices.Contains([]string{"", "1", "10", "2", "true", "null", "~", "1.5", " a ", "a: b", "#", "- a", "a\tb\n", "\"", "'", "0x1"}, text)
}

var keyTexts = []string{
	"a", "b", "c", "key", "long-key", "snake_key", "dotted.key", "with space", "CamelCase", "ключ", "日本", "😀", "é", "e\u0301",
	"yes", "on", "no", "y", "2024-01-01", "12:30", "a/b", "a#b", "a:b", "-a", "0b1", "1_0", "0x", "1.2.3", "<<", "license", "metadata", "version", "tags", "=",
	"", "1", "10", "2", "true", "null", "~", "1.5", " a ", "a: b", "#", "- a", "a\tb\n", "\"", "'", "0x1", "__proto__", "constructor", "toString", "valueOf", "hasOwnProperty",
}

// words are what texts are made of; none of them needs quotes.
var words = []string{
	"a", "word", "Use", "when", "it's", "\"quoted\"", "x:y", "http://example.org/a?b=c#d", "tag", "50%", "a-b", "snake_case", "1.10", "42", "true", "null", "2024-01-01",
	"é", "日本語", "😀", "שלום", "e\u0301", "a\u00a0b", "C:\\dir", "$HOME", "(b)", "a&b", "b*", "b!", "what?", "~", "x@", "=", "<b>", "a|b", "\\n", "x'y", "...", "–",
}

func (g *generator) phrase(n int) string {
	picked := make([]string, n)
	for i := range picked {
		picked[i] = pick(g, words)
	}
	return strings.Join(picked, " ")
}

// plainPhrase returns words of which the first may begin a plain scalar.
func (g *generator) plainPhrase(n int) string {
	first := pick(g, []string{"a", "Use", "when", "it's", "1.10", "~x", "-a", "é", "日本", "😀", "(a)", "$x", "/a", "\\x", ".x", "+x", "=", "<a>"})
	if n == 1 {
		return first
	}
	return first + " " + g.phrase(n-1)
}

// scalar writes a scalar on one line.
func (g *generator) scalar(inFlow bool) string {
	switch kind := g.rand.IntN(100); {
	case kind < 40:
		return g.plain(inFlow)
	case kind < 55:
		return singleQuoted(strings.ReplaceAll(g.anyText(), "\n", " "))
	case kind < 75:
		return g.escaped(g.anyText())
	case kind < 80:
		return "!!str " + pick(g, []string{"12", "true", "null", "1.50", "'a'", "\"b\"", "a b"})
	case kind < 83:
		return pick(g, []string{"!!int 7", "!!int 0o17", "!!float 1.5", "!!float 1e3", "!!bool true", "!!null ~", "!!null null", "!!int \"12\""})
	}
	return g.phraseFor(inFlow)
}

// phraseFor returns a plain phrase that ends at no flow indicator.
func (g *generator) phraseFor(inFlow bool) string {
	text := g.plainPhrase(1 + g.rand.IntN(6))
	if inFlow {
		text = strings.NewReplacer(",", "", "?", "", "[", "", "]", "", "{", "", "}", "").Replace(text)
	}
	return text
}

// plain returns a plain scalar that is one wherever it stands.
func (g *generator) plain(inFlow bool) string {
	for {
		text := pick(g, plainScalars)
		if plainAnywhere(text) && !(inFlow && strings.ContainsAny(text, ",[]{}?")) {
			return text
		}
	}
}

// plainAnywhere reports whether a text is a plain scalar and nothing else.
func plainAnywhere(text string) bool {
	return !strings.ContainsAny(text[:1], "'\"!&*%@`|>#]}{[,?:-") &&
		!strings.Contains(text, ": ") && !strings.Contains(text, " #") && !strings.Contains(text, " :") && !strings.HasSuffix(text, ":")
}

// anyText returns a text with everything that needs quotes or escapes.
func (g *generator) anyText() string {
	if g.chance(30) {
		return pick(g, plainScalars)
	}
	pieces := make([]string, g.rand.IntN(5))
	for i := range pieces {
		pieces[i] = pick(g, []string{": ", " #", "- ", "'", "\"", "\\", "[", "{", ",", "&", "*", "!", "|", ">", "%", "@", "`", "é", "😀", "\ufeff", "\u00a0", "a", "B", "1", " ", "  ", "e\u0301", "?", "~", "/", "<", "\n", "שלום"})
	}
	return strings.Join(pieces, "")
}

// escaped writes a text in double quotes, with more escapes than it needs.
func (g *generator) escaped(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out.WriteString("\\" + string(c))
		case c == '\n':
			out.WriteString(`\n`)
		case c == '/' && g.chance(50):
			out.WriteString(`\/`)
		case c > 0xffff && g.chance(40):
			fmt.Fprintf(&out, `\u%04x\u%04X`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		case c < 0x100 && g.chance(10):
			fmt.Fprintf(&out, `\x%02x`, c)
		case c < 0x10000 && g.chance(15):
			fmt.Fprintf(&out, `\u%04X`, c)
		case g.chance(5):
			fmt.Fprintf(&out, `\U%08x`, c)
		default:
			out.WriteRune(c)
		}
	}
	if g.chance(20) {
		out.WriteString(pick(g, []string{`\0`, `\a`, `\b`, `\t`, `\n`, `\v`, `\f`, `\r`, `\e`, `\ `, `\N`, `\_`, `\L`, `\P`}))
	}
	out.WriteByte('"')
	return out.String()
}

// multiLine writes a plain or quoted scalar over several lines, without the
// end of the last.
func (g *generator) multiLine(indentation int) string {
	lines := make([]string, 2+g.rand.IntN(3))
	quote := pick(g, []string{"", "'", "\""})
	for i := range lines {
		lines[i] = g.lineIn(quote, i == len(lines)-1)
	}
	var out strings.Builder
	for i, line := range lines {
		switch {
		case i == 0:
		case strings.HasSuffix(lines[i-1], "\\"):
			out.WriteString("\n") // an empty line here is a form of its own
		default:
			out.WriteString(pick(g, []string{"\n", "\n", "\n", " \n", "\n\n", "\n\n\n", "\n  \n"}))
		}
		if i > 0 {
			out.WriteString(strings.Repeat(" ", indentation+1+g.rand.IntN(4)))
		}
		out.WriteString(line)
	}
	return quote + out.String() + quote
}

// lineIn writes a line of a scalar in these quotes.
func (g *generator) lineIn(quote string, last bool) string {
	switch quote {
	case "'":
		return strings.ReplaceAll(g.phrase(1+g.rand.IntN(4)), "'", "''")
	case "\"":
		escaped := g.escaped(g.phrase(1 + g.rand.IntN(4)))
		line := escaped[1 : len(escaped)-1]
		if !last && g.chance(20) {
			line += pick(g, []string{"\\", " \\", "\\n", "\\t "})
		}
		return line
	}
	return g.plainPhrase(1 + g.rand.IntN(5))
}
