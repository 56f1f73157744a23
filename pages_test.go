package skillsmcp_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// maxReadmeBytes is how long the README may be: who comes by reads a page.
const maxReadmeBytes = 10 << 10

// prose returns a page without its fenced blocks, which hold text of others.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(text), "")
}

// pages returns the names of the Markdown files that people read.
func pages(t *testing.T) []string {
	t.Helper()
	names := []string{"sandbox/ESCAPES.md"}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names
}

// TestLinks: what pages link to in the repository is there, sections too.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		for _, match := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(prose(t, page), -1) {
			link, err := url.Parse(match[1])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if link.IsAbs() {
				continue
			}
			target := page
			if link.Path != "" {
				target = path.Join(path.Dir(page), link.Path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
			} else if link.Fragment != "" && !slices.Contains(sections(t, target), link.Fragment) {
				t.Errorf("%s links to %s: there is no such section", page, match[1])
			}
		}
	}
}

// TestNamedPaths: what the pages for contributors name of a room is there.
func TestNamedPaths(t *testing.T) {
	t.Parallel()
	for _, page := range []string{architecture, "CONTRIBUTING.md"} {
		for _, match := range regexp.MustCompile("`([a-z]+)/([a-z0-9/_-]+)`").FindAllStringSubmatch(prose(t, page), -1) {
			if _, known := imports[match[1]]; !known {
				continue
			}
			if _, err := os.Stat(match[1] + "/" + match[2]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// sections returns the names by which a page's headings are linked.
func sections(t *testing.T, page string) []string {
	t.Helper()
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(prose(t, page), -1) {
		names = append(names, strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
				return unicode.ToLower(c)
			}
			return -1
		}, match[1]))
	}
	return names
}

// TestReadmeIsShort: the README fits its size, and leads to every page.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(readme) > maxReadmeBytes {
		t.Errorf("README.md has %d bytes, more than %d", len(readme), maxReadmeBytes)
	}
	for _, page := range pages(t) {
		if page != "README.md" && !strings.Contains(string(readme), "]("+page+")") {
			t.Errorf("README.md does not link to %s", page)
		}
	}
}

// TestPagesLeadOn: a page of docs says what it is for before anything else, and
// where to go on at its end.
func TestPagesLeadOn(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		if path.Dir(page) != "docs" {
			continue
		}
		paragraphs := strings.Split(strings.TrimSpace(prose(t, page)), "\n\n")
		if first := paragraphs[1]; !strings.HasPrefix(first, "This page ") {
			t.Errorf("%s does not begin with what it is for, but with %q", page, first)
		}
		if last := paragraphs[len(paragraphs)-1]; !strings.Contains(last, ".md") || paragraphs[len(paragraphs)-2] != "---" {
			t.Errorf("%s leads nowhere at its end: %q", page, last)
		}
	}
}

// TestDocumentedResult: docs/tools-and-errors.md names every field of a result
// of exec, and no other.
func TestDocumentedResult(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/golden/tool-exec.json")
	if err != nil {
		t.Fatal(err)
	}
	var tool struct {
		OutputSchema struct {
			Properties map[string]any `json:"properties"`
		} `json:"outputSchema"`
	}
	if err := json.Unmarshal(golden, &tool); err != nil {
		t.Fatal(err)
	}
	fields := tool.OutputSchema.Properties
	if len(fields) == 0 {
		t.Fatal("the schema of exec has no fields")
	}
	_, table, _ := part(t, "docs/tools-and-errors.md", "result")
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			if fields[match[1]] == nil {
				t.Errorf("docs/tools-and-errors.md names %q, which no result has", match[1])
			}
			delete(fields, match[1])
		}
	}
	for field := range fields {
		t.Errorf("docs/tools-and-errors.md does not name %q", field)
	}
}

// TestCommandsAreDocumented: the reference of commands has each that the help has.
func TestCommandsAreDocumented(t *testing.T) {
	help, err := os.ReadFile("testdata/cli/help.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(help), "\nAvailable Commands:\n")
	list, _, ended := strings.Cut(list, "\n\n")
	page, err := os.ReadFile("docs/tools-and-errors.md")
	_, table, _ := strings.Cut(string(page), "\n## Commands\n")
	table, _, _ = strings.Cut(table, "\n## ")
	if err != nil || !found || !ended || table == "" {
		t.Fatalf("the help has the commands %q, and the page the table %q: %v", list, table, err)
	}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "help" && !regexp.MustCompile("`(skills-mcp )?"+name+"\\b").MatchString(table) {
			t.Errorf("docs/tools-and-errors.md does not name the command %s", name)
		}
	}
}
