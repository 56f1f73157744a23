package frontmatter

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// samples is where the sample skills lie: valid, at fault, and hostile.
const samples = "../../testdata/skills"

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
	// entry is the whole file. If empty, it is made of yaml.
	entry []byte
	// means is the same in YAML without the fault that skills-mcp forgives.
	// If empty, there is none.
	means string
	// foreign tells that the document is a sample as it lies on disk, which
	// may be excluded for what it says.
	foreign bool
}

// named gives the document with its skill's name in place.
func (d document) named(name string) document {
	d.yaml = strings.ReplaceAll(d.yaml, nameHere, name)
	d.means = strings.ReplaceAll(d.means, nameHere, name)
	if d.entry == nil {
		d.entry = []byte("---\n" + d.yaml + "---\n")
	}
	return d
}

// split gives the YAML between the delimiters, as the specification of
// skills has them: lines of three hyphens, the first at the very beginning.
func split(entry []byte) (string, bool) {
	rest := bytes.TrimLeft(bytes.TrimPrefix(entry, []byte("\ufeff")), "\r\n")
	var yaml []byte
	for i := 0; len(rest) > 0; i++ {
		line, next, _ := bytes.Cut(rest, []byte("\n"))
		delimits := string(bytes.TrimRight(line, " \t\r")) == "---"
		switch {
		case i == 0 && !delimits:
			return "", false
		case i > 0 && delimits:
			return string(yaml), true
		case i > 0:
			yaml = append(append(yaml, line...), '\n')
		}
		rest = next
	}
	return "", false
}

// sampleDocuments gives every sample twice: as it lies on disk, and with its
// frontmatter as the value of a key, so that it is published whatever its
// name and description are.
func sampleDocuments(t *testing.T) []document {
	t.Helper()
	var documents []document
	err := filepath.WalkDir(samples, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.EqualFold(entry.Name(), "SKILL.md") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		yaml, found := split(text)
		if !found {
			return nil
		}
		origin := filepath.ToSlash(path[len(samples)+1:])
		documents = append(documents,
			document{origin: origin, yaml: yaml, entry: text, foreign: true},
			document{origin: origin + ", nested", yaml: header + "sample:\n" + indented(yaml)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// indented puts every line two deeper.
func indented(yaml string) string {
	var out strings.Builder
	for line := range strings.Lines(yaml) {
		if strings.TrimRight(line, "\r\n") != "" {
			out.WriteString("  ")
		}
		out.WriteString(line)
	}
	return out.String()
}

// write puts the documents below a root, each in a directory named as its
// skill, and gives them with their names in place.
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
