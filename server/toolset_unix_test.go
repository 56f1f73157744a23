//go:build unix

package server_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestToolsetHostileNames: what programs name their files hides nothing and
// breaks no line.
func TestToolsetHostileNames(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.create(t, "plain", "x")
	for name, shown := range map[string]string{
		"line\nbreak":    `- "line\u000abreak" (1 B)`,
		"\u202egnp.exe":  `- "\u202egnp.exe" (1 B)`,
		"\x1b[31mred":    `- "\u001b[31mred" (1 B)`,
		`"quoted"`:       `- "\"quoted\"" (1 B)`,
		" edge ":         `- " edge " (1 B)`,
		"latin1 \xf6":    "- \"latin1 \ufffd\" (1 B)",
		"]\n[Truncated:": `- "]\u000a[Truncated:" (1 B)`,
	} {
		must(t, os.WriteFile(filepath.Join(w.dir, name), []byte("x"), 0o644))
		if text := w.view(t, ".").text(); !strings.Contains(text, "\n"+shown+"\n") {
			t.Errorf("%q is not shown as %s:\n%s", name, shown, text)
		}
		uri := "workspace://" + filepath.Base(w.dir) + "/" + url.PathEscape(name)
		if a := w.view(t, uri); a.text() != "     1\tx\n" {
			t.Errorf("%s: %s", uri, a.text())
		}
		a := w.replace(t, uri, "x", "y")
		if a.IsError || w.file(t, name) != "y" || strings.Contains(a.text(), name) && name != " edge " && name != `"quoted"` {
			t.Errorf("%s: %q", uri, a.text())
		}
		must(t, os.Remove(filepath.Join(w.dir, name)))
	}
}

// TestToolsetLinks: nothing is read or written through what a program planted.
func TestToolsetLinks(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.create(t, "real/file", "inside")
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "secret"), []byte("secret"))
	must(t, errors.Join(
		os.Symlink(outside, filepath.Join(w.dir, "out")),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(w.dir, "secret")),
		os.Link(filepath.Join(outside, "secret"), filepath.Join(w.dir, "hard")),
		os.Symlink("real", filepath.Join(w.dir, "in")),
		os.Symlink(".skills-mcp", filepath.Join(w.dir, "private")),
		os.Mkdir(filepath.Join(w.dir, ".skills-mcp"), 0o700),
		syscall.Mkfifo(filepath.Join(w.dir, "fifo"), 0o644)))
	for path, codes := range map[string][3]string{ // of view, create_file and str_replace
		"out/secret":     {"path_escape", "path_escape", "path_escape"},
		"out/new":        {"path_escape", "path_escape", "path_escape"},
		"secret":         {"path_escape", "path_escape", "path_escape"},
		"hard":           {"path_escape", "", "path_escape"},
		"in/file":        {"", "path_escape", "path_escape"},
		"private/new":    {"file_not_found", "path_escape", "path_escape"},
		"fifo":           {"special_file", "special_file", "special_file"},
		"real/file/file": {"not_directory", "not_directory", "not_directory"},
	} {
		for i, a := range []answer{
			w.view(t, path), w.replace(t, path, "secret", "public"),
			w.call(t, "create_file", map[string]any{"path": path, "file_text": "public"}),
		} {
			if want := codes[[]int{0, 2, 1}[i]]; a.code() != want {
				t.Errorf("%s, call %d: %s; want %q", path, i, a.text(), want)
			}
			if strings.Contains(a.text(), outside) || strings.Contains(a.text(), w.fixture.workspaceBase) {
				t.Errorf("%s shows a host path: %s", path, a.text())
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(outside, "secret"))
	if names, _ := os.ReadDir(outside); err != nil || string(data) != "secret" || len(names) != 1 {
		t.Errorf("outside there is %q in %v, %v", data, names, err)
	}
}

// TestToolsetRace: while a program puts a link to the outside in a directory's
// place and takes it away again, nothing is written outside.
func TestToolsetRace(t *testing.T) {
	t.Parallel()
	needBash(t)
	w := newWorker(t)
	outside := t.TempDir()
	const text = "before"
	writeFile(t, filepath.Join(outside, "file"), []byte(text))
	w.create(t, "begun", "")
	swap := `while [ -e begun ]; do
  mkdir spot && echo before > spot/file; mv spot aside; ln -s ` + outside + ` spot; rm spot; mv aside spot; rm -rf spot
done 2>/dev/null; true`
	ended := w.start(t, "tools/call", map[string]any{"name": "bash_tool", "arguments": map[string]any{"command": swap}})
	codes := map[string]int{}
	for range 300 {
		codes[w.call(t, "create_file", map[string]any{"path": "spot/file", "file_text": text + " and more"}).code()]++
		codes[w.call(t, "create_file", map[string]any{"path": "spot/deep/er", "file_text": "new"}).code()]++
		codes[w.replace(t, "spot/file", "before", "after").code()]++
	}
	must(t, os.Remove(filepath.Join(w.dir, "begun")))
	if a := decodeAnswer(t, "bash_tool", w.await(t, ended, "bash_tool")); a.IsError {
		t.Errorf("the program: %s", a.text())
	}
	data, err := os.ReadFile(filepath.Join(outside, "file"))
	if names, _ := os.ReadDir(outside); err != nil || string(data) != text || len(names) != 1 {
		t.Errorf("outside there is %q in %v, %v", data, names, err)
	}
	if codes[""] == 0 {
		t.Errorf("nothing came through: %v", codes)
	}
	t.Log(codes)
}
