package frontmatter

import (
	"fmt"
	"strings"
)

// blockContents are what a block scalar may hold, each line indented by two.
var blockContents = []string{
	"a\n", "a\nb\n", "a\n\nb\n", "a\n\n\nb\n", "\na\n", "\n\na\n", "a\n\n", "a\n\n\n", "", "\n", "\n\n",
	"a \n b\n", "a  \n\n  b  \n", "a\n  b\n  c\nd\n", "  a\nb\n", " a\n", "a\n \nb\n", "a\n  \n\nb\n", "a\n\tb\n", "\ta\n", "a\t\nb\n", "a\n\t\nb\n",
	"# a\nb\n", "a # b\n", "- a\n- b\n", "k: v\n", "k: v: w\n", "'a\n\"b\n", "\\n\\x41\n", "&a *b !c\n", "a\n b\n  c\n b\na\n", "a\n\n b\n\nc\n", "é 😀\n", "a\u2028b\u0085c\n", "a\u00a0\n",
	"--- a\n...\n", "---\n", "%a\n", "? a\n: b\n", "{a: [b\n", "*\n", "a\n\n  b\n  c\n\n\nd\n", "a\n  \n", "a \n  \n ",
}

// blockDocuments gives block scalars with every header and content, in the
// middle of a document and at its end.
func blockDocuments() []document {
	var documents []document
	n := 0
	for _, style := range []string{"|", ">"} {
		for _, chomping := range []string{"", "-", "+"} {
			for i, content := range blockContents {
				indicator := []string{"", "2"}[(i+n)%2]
				header, n1 := style+chomping+indicator, n
				if i%3 == 0 {
					header = style + indicator + chomping
				}
				n = n1 + 1
				documents = append(documents, blockDocument(header, content))
			}
		}
	}
	for _, odd := range []string{"|0", "|10", "||", "|-+", "|+-2", "|1-", "|9", "> a", "|a", "|#a", "| # a", ">2 # a", ">-# a", "|\t", "|- \t# a", "|1", ">1+"} {
		documents = append(documents, blockDocument(odd, "a\n"), blockDocument(odd, " a\n"))
	}
	return documents
}

func blockDocument(head, content string) document {
	yaml := header + fmt.Sprintf("k: %s\n%sl:\n- %s\n%sm:\n  n: %s\n%so: %s\n%s",
		head, indentedBy(2, content), head, indentedBy(2, content), head, indentedBy(4, content), head, indentedBy(2, content))
	return document{origin: "block scalar " + head, yaml: yaml}
}

// indentedBy puts every line deeper, but for empty ones.
func indentedBy(n int, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			out.WriteString(strings.Repeat(" ", n))
		}
		out.WriteString(line)
	}
	if text := out.String(); text != "" && !strings.HasSuffix(text, "\n") {
		out.WriteString("\n")
	}
	return out.String()
}
