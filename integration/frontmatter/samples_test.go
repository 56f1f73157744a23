package frontmatter

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// samples is where the sample skills lie: valid, at fault, and hostile.
const samples = "../../testdata/skills"

// maxNestedBytes bounds the samples that are read twice: what is hostile by
// its size costs the readers seconds.
const maxNestedBytes = 16 << 10

// plainDescription is a description in one line and without quotes.
var plainDescription = regexp.MustCompile(`(?m)^(description: )([^"'|>&*!\[{\r\n][^'\r\n]*)$`)

// sampleDocuments returns every sample twice: as it lies on disk, and with its
// frontmatter as the value of a key, so that it is published whatever its
// name and description are.
func sampleDocuments(t *testing.T) []document {
	t.Helper()
	var documents []document
	for _, set := range []string{"valid", "invalid", "hostile"} {
		before := len(documents)
		err := filepath.WalkDir(filepath.Join(samples, set), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || !strings.EqualFold(entry.Name(), "SKILL.md") {
				return err
			}
			text, err := os.ReadFile(path)
			documents = append(documents, fromSample(filepath.ToSlash(path[len(samples)+1:]), text)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(documents) == before {
			t.Fatalf("there are no %s samples", set)
		}
	}
	return documents
}

// fromSample returns the documents that are made of one sample.
func fromSample(origin string, text []byte) []document {
	yaml, found := split(text)
	if !found {
		return nil
	}
	sample := document{origin: origin, yaml: yaml, entry: text, foreign: true}
	sample.means = plainDescription.ReplaceAllString(yaml, "$1'$2'")
	if len(yaml) > maxNestedBytes {
		return []document{sample}
	}
	const key = header + "sample:\n"
	return []document{
		sample,
		{origin: origin + ", nested", yaml: key + indentedBy(2, yaml), means: key + indentedBy(2, sample.means)},
	}
}

// split returns the YAML between the delimiters, as the specification of
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

// indentedBy puts every line deeper, but for empty ones, and ends the last.
func indentedBy(n int, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, "\r\n") != "" {
			out.WriteString(strings.Repeat(" ", n))
		}
		out.WriteString(line)
	}
	if indented := out.String(); indented == "" || strings.HasSuffix(indented, "\n") {
		return indented
	}
	return out.String() + "\n"
}
