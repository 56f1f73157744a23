package integration

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of clients in docs/protocol.md")

// pin is where the version of a package is set down.
type pin struct {
	file   string
	before string // what is before the version there
}

func npm(name string) pin      { return pin{nodeDir + "/package.json", `"` + name + `": "`} }
func pip(dir, name string) pin { return pin{dir + "/requirements.txt", "\n" + name + "=="} }

func (p pin) version(t *testing.T) string {
	t.Helper()
	_, rest, found := strings.Cut(contentsOf(t, p.file), p.before)
	end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune(".0123456789", r) })
	if !found || end < 1 {
		t.Fatalf("%s sets no version down after %q", p.file, p.before)
	}
	return rest[:end]
}

// The page on the protocol names the clients that are driven, and their versions.
func TestDocumentedClients(t *testing.T) {
	const page, begin, end = "../docs/protocol.md", "<!-- clients -->\n", "<!-- /clients -->\n"
	text := contentsOf(t, page)
	before, rest, ok := strings.Cut(text, begin)
	table, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	want := clientsTable(t)
	switch {
	case table == want:
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not have this table; go test -update writes it:\n%s", page, want)
	}
}

func clientsTable(t *testing.T) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("| client | version | stdio | streamable HTTP | SSE |\n|---|---|---|---|---|\n")
	for _, l := range libraries {
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", l.name, l.pin.version(t), l.eras("stdio"), l.eras("http"), l.eras("sse"))
	}
	table.WriteString("\nAll of them take all steps, but for:\n\n")
	for _, e := range exceptions {
		fmt.Fprintf(&table, "- %s: %s, which %s\n", e.step, strings.Join(e.libraries, ", "), e.reason)
	}
	return table.String()
}

// eras returns those of the protocol that the library speaks on a transport.
func (l library) eras(transport string) string {
	var eras []string
	for _, w := range l.ways {
		if w.transport == transport {
			eras = append(eras, w.era())
		}
	}
	return cmp.Or(strings.Join(eras, ", "), "–")
}
