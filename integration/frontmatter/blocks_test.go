package frontmatter

import "fmt"

// blockContents are what a block scalar may hold.
var blockContents = []string{
	"a\n", "a\nb\n", "a\n\nb\n", "a\n\n\nb\n", "\na\n", "\n\na\n", "a\n\n", "a\n\n\n", "", "\n", "\n\n",
	"a \n b\n", "a  \n\n  b  \n", "a\n  b\n  c\nd\n", "  a\nb\n", " a\n", "a\n \nb\n", "a\n  \n\nb\n",
	"a\n\tb\n", "\ta\n", "a\t\nb\n", "a\n\t\nb\n", "# a\nb\n", "a # b\n", "- a\n- b\n", "k: v\n", "k: v: w\n",
	"'a\n\"b\n", "\\n\\x41\n", "&a *b !c\n", "a\n b\n  c\n b\na\n", "a\n\n b\n\nc\n", "é 😀\n",
	"a\u2028b\u0085c\n", "a\u00a0\n", "--- a\n...\n", "---\n", "%a\n", "? a\n: b\n", "{a: [b\n", "*\n",
	"a\n\n  b\n  c\n\n\nd\n", "a\n  \n", "a \n  \n ",
}

// oddHeads are headers that are rare, or none.
var oddHeads = []string{
	"|0", "|10", "||", "|-+", "|+-2", "|1-", "|9", "|1", ">1+", "> a", "|a",
	"| # a", ">2 # a", "|\t", "|- \t# a",
}

// blockDocuments returns block scalars with every header and content, in the
// middle of a document and at its end.
func blockDocuments() []document {
	var documents []document
	for _, style := range []string{"|", ">"} {
		for _, chomping := range []string{"", "-", "+"} {
			for i, content := range blockContents {
				head := style + chomping
				switch (i + len(documents)) % 4 {
				case 0:
					head = style + chomping + "2"
				case 1:
					head = style + "2" + chomping
				}
				documents = append(documents, blockDocument(head, content))
			}
		}
	}
	for _, head := range oddHeads {
		documents = append(documents, blockDocument(head, "a\n"), blockDocument(head, " a\n"))
	}
	return documents
}

func blockDocument(head, content string) document {
	yaml := header + fmt.Sprintf("k: %s\n%sl:\n- %s\n%sm:\n  n: %s\n%so: %s\n%s",
		head, indentedBy(2, content), head, indentedBy(2, content), head, indentedBy(4, content), head, indentedBy(2, content))
	return document{origin: "block scalar " + head, yaml: yaml}
}
