package skillsmcp_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the list of packages in ARCHITECTURE.md")

const architecture = "ARCHITECTURE.md"

// part returns what a page has between <!-- name --> and <!-- /name -->, and what
// is around it.
func part(t *testing.T, page, name string) (before, within, after string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, begins := strings.Cut(string(text), begin)
	within, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has nothing between %q and %q", page, begin, end)
	}
	return before + begin, within, end + after
}

// TestDocumentedRooms: the table of rooms is that of the import rules.
func TestDocumentedRooms(t *testing.T) {
	t.Parallel()
	_, table, _ := part(t, architecture, "rooms")
	quoted := regexp.MustCompile("`([^`]+)`")
	rooms := roomsImported()
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		name := quoted.FindStringSubmatch(cells[0])
		if name == nil {
			continue
		}
		documented := map[string]bool{}
		for _, match := range quoted.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			documented[match[1]] = true
		}
		if want, known := rooms[name[1]]; !known || !maps.Equal(documented, want) {
			t.Errorf("%s says that %s may import %v, the rules say %v", architecture, name[1], documented, want)
		}
		delete(rooms, name[1])
	}
	for name := range rooms {
		t.Errorf("%s does not name the room %s", architecture, name)
	}
}

// roomsImported returns for each room the others that the import rules let it
// use.
func roomsImported() map[string]map[string]bool {
	rooms := map[string]map[string]bool{}
	for dir, allowed := range imports {
		if dir == "." {
			continue
		}
		if rooms[room(dir)] == nil {
			rooms[room(dir)] = map[string]bool{}
		}
		for _, target := range allowed {
			if room(target) != room(dir) {
				rooms[room(dir)][room(target)] = true
			}
		}
	}
	return rooms
}

// TestDocumentedPackages: the list of packages names every directory of Go
// files, and no other. With -update it has what their documentation says.
func TestDocumentedPackages(t *testing.T) {
	before, table, after := part(t, architecture, "packages")
	var named []string
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		named = append(named, match[1])
	}
	dirs := goDirectories(t)
	switch {
	case *update:
		table = "| package | is |\n|---|---|\n"
		for _, dir := range dirs {
			table += fmt.Sprintf("| `%s` | %s |\n", dir, synopsis(t, dir))
		}
		if err := os.WriteFile(architecture, []byte(before+table+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case !slices.Equal(named, dirs):
		t.Errorf("%s has another list of packages than there are (-want +got; go test . -update writes it):\n%s", architecture, cmp.Diff(dirs, named))
	}
}

// mostLines is how many lines of production code a package may have: what fits
// into one head, and one subject.
const mostLines = 3000

// TestPackagesAreSmall: no package has more lines than one person holds in mind.
func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()
	counted := 0
	for _, dir := range goDirectories(t) {
		if dir == "sandbox/sandboxtest" {
			continue // one suite, which is as long as there are promises
		}
		lines := linesOf(t, dir)
		counted += lines
		if lines > mostLines {
			t.Errorf("%s has %d lines, more than %d: find the nouns in it", dir, lines, mostLines)
		}
	}
	if counted < 10*mostLines {
		t.Errorf("%d lines were counted, which cannot be all", counted)
	}
}

// linesOf counts the lines of a directory's Go files, tests aside, for all
// platforms.
func linesOf(t *testing.T, dir string) (lines int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(content), "\n")
	}
	return lines
}

// goDirectories returns the directories with Go files, the root aside.
func goDirectories(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata/skills" || entry.Name() == "node_modules" || len(name) > 1 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case path.Ext(name) == ".go" && path.Dir(name) != ".":
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// synopsis returns what the first sentence of a package's documentation says,
// without the name and as far as a colon.
func synopsis(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		sentence, _, _ := strings.Cut(new(doc.Package).Synopsis(parsed.Doc.Text())+" ", ": ")
		if sentence = strings.Trim(sentence, ". "); sentence != "" {
			sentence = regexp.MustCompile(`^(Package|Command) \S+ `).ReplaceAllString(sentence, "")
			return strings.NewReplacer("[", "", "]", "", "|", `\|`).Replace(sentence)
		}
	}
	return "?"
}
