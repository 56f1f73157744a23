package frontmatter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nameHere stands in a document's YAML where the skill's name belongs.
const nameHere = "@@"

// header begins a document that is about something else.
const header = "name: " + nameHere + "\ndescription: d\n"

// document is one SKILL.md that everybody reads.
type document struct {
	origin string // what it is, for a message
	// yaml is what stands between the delimiters, its last line break
	// included.
	yaml string
	// entry is the whole file. If empty, it is mark, fence, yaml and fence.
	entry []byte
	// mark is a byte-order mark or empty, fence a delimiter with its line
	// break; if empty, it ends in a line feed.
	mark, fence string
	// means is the same in YAML without a fault that skills-mcp forgives, or
	// empty.
	means string
	// limit is the rule of YAML that the parser does not keep here, or empty.
	limit string
	// foreign says that the document is a sample as it lies on disk, which
	// may be excluded for what it says.
	foreign bool
	// template is yaml before the name was put in place.
	template string
}

// named returns the document with its skill's name in place.
func (d document) named(name string) document {
	d.template = d.yaml
	d.yaml = strings.ReplaceAll(d.yaml, nameHere, name)
	d.means = strings.ReplaceAll(d.means, nameHere, name)
	if d.fence == "" {
		d.fence = "---\n"
	}
	if d.entry == nil {
		d.entry = []byte(d.mark + d.fence + d.yaml + d.fence)
	}
	return d
}

// write puts the documents below a root, each in a directory named as its
// skill, and returns them with their names in place.
func write(t *testing.T, root string, documents []document) []document {
	t.Helper()
	written := make([]document, len(documents))
	for i, d := range documents {
		name := directory(i)
		written[i] = d.named(name)
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "SKILL.md"), written[i].entry, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return written
}

// directory names the directory of a document.
func directory(i int) string { return fmt.Sprintf("document-%05d", i) }
