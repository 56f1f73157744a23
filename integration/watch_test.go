package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// watching is a server over three skills with two files each, and a client
// that has subscribed to all files of the last.
func watching(t *testing.T) (w *wire, root string) {
	root = t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		writeSkill(t, root, name, "Body.")
		writeFile(t, filepath.Join(root, name, "references", "r.md"), name)
		writeFile(t, filepath.Join(root, name, "scripts", "s.sh"), name)
	}
	w = dial(t, program.Home(t), "--sandbox=off", root)
	w.handshake(t)
	for _, file := range []string{"references/r.md", "scripts/s.sh"} {
		w.call(t, "resources/subscribe", map[string]any{"uri": "skill://c/" + file})
	}
	w.sees(t, root)
	// What tells of changes knows all files by now.
	w.messages.take(t, "the news of a skill", func(m message) bool { return m.Method == resourcesChanged })
	return w, root
}

// sees waits until the server knows what stands below root by now, which shows
// that it lives.
func (w *wire) sees(t *testing.T, root string) {
	t.Helper()
	name := fmt.Sprintf("seen-%d", w.lastID)
	writeSkill(t, root, name, "Body.")
	program.Eventually(t, name+" activates", func() bool {
		return !w.callTool(t, "activate", map[string]any{"name": name}).IsError
	})
}

// updated waits for the news of a resource.
func (w *wire) updated(t *testing.T, uri string) {
	t.Helper()
	w.messages.take(t, "the update of "+uri, func(m message) bool { return isUpdate(m, uri) })
}

func isUpdate(m message, uri string) bool {
	var params struct{ URI string }
	return m.Method == resourceUpdated && json.Unmarshal(m.Params, &params) == nil && params.URI == uri
}

// Folders that take each other's places end neither the server nor the news of
// what is in them.
func TestFoldersThatMove(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, first, then string }{
		{"replaced, then removed", "mv a a.old, mv b a", "rm a, rm a.old"},
		{"swapped, then removed", "mv a x, mv b a, mv x b", "rm a, rm b"},
		{"swapped, then moved", "mv a x, mv b a, mv x b", "mv a d, mv b e"},
		{"moved in a row", "mv c x, mv a c, mv b a", "rm c, mv x c"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, root := watching(t)
			for _, steps := range []string{test.first, test.then} {
				for step := range strings.SplitSeq(steps, ", ") {
					move(t, root, strings.Fields(step))
				}
				w.sees(t, root)
			}
			for _, file := range []string{"references/r.md", "scripts/s.sh"} {
				writeFile(t, filepath.Join(root, "c", file), "edited")
				w.updated(t, "skill://c/"+file)
			}
		})
	}
}

func move(t *testing.T, root string, step []string) {
	t.Helper()
	err := error(nil)
	if path := filepath.Join(root, step[1]); step[0] == "rm" {
		err = os.RemoveAll(path)
	} else {
		err = os.Rename(path, filepath.Join(root, step[2]))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A file that is saved as it was is no news.
func TestSavedAsItWas(t *testing.T) {
	t.Parallel()
	w, root := watching(t)
	same, other := "skill://c/references/r.md", "skill://c/scripts/s.sh"
	for round := range 3 {
		aside := filepath.Join(t.TempDir(), "r.md")
		writeFile(t, aside, "c")
		if err := os.Rename(aside, filepath.Join(root, "c", "references", "r.md")); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(root, "c", "scripts", "s.sh"), fmt.Sprint(round))
		w.updated(t, other)
	}
	w.messages.mu.Lock()
	defer w.messages.mu.Unlock()
	for _, m := range w.messages.items {
		if isUpdate(m, same) {
			t.Errorf("told of a file that was saved as it was: %s", m.raw)
		}
	}
}
