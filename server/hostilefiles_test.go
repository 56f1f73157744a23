package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// testSpecialFiles: a FIFO, a socket and a device are refused at once,
// whatever is asked of them.
func (h hostileSkills) testSpecialFiles(t *testing.T) {
	for skill, file := range map[string]string{"fifo-file": "pipe.md", "socket-file": "socket.md", "device-file": "zero.md"} {
		if _, err := os.Lstat(filepath.Join(h.root, skill, "references", file)); err != nil {
			t.Logf("the file of %s could not be made here", skill)
			continue
		}
		name := "references/" + file
		if a := h.call(t, "readResource", map[string]any{"name": skill, "path": name}); a.code() != "special_file" {
			t.Errorf("readResource of %s: %s", name, a.text())
		}
		if _, fault := h.readURI(t, "skill://"+skill+"/"+name); fault == nil || fault.Data.Code != "special_file" || fault.Code != -32602 {
			t.Errorf("resources/read of %s: %+v", name, fault)
		}
		if a := h.call(t, "exec", map[string]any{"name": skill, "script": name}); a.code() != "sandbox_setup" {
			t.Errorf("exec of %s: %s", name, a.text())
		}
		if names := h.children(t, "skill://"+skill+"/references"); len(names) != 0 {
			t.Errorf("%s is listed: %q", name, names)
		}
	}
}

// children returns the URIs of a directory, all pages of it.
func (h hostileSkills) children(t *testing.T, uri string) (uris []string) {
	t.Helper()
	params := map[string]any{"uri": uri}
	for {
		r := h.ask(t, "resources/directory/read", params)
		if r.Error != nil {
			t.Fatalf("%s: %+v", uri, *r.Error)
		}
		var page struct {
			Resources  []struct{ URI string }
			NextCursor string
		}
		must(t, json.Unmarshal(r.Result, &page))
		for _, child := range page.Resources {
			uris = append(uris, child.URI)
		}
		if page.NextCursor == "" {
			return uris
		}
		params["cursor"] = page.NextCursor
	}
}

func (h hostileSkills) testUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read what is made unreadable")
	}
	for _, skill := range []string{"unreadable-file", "unreadable-directory"} {
		if _, err := os.Lstat(filepath.Join(h.root, skill)); err != nil {
			t.Skip("unreadable files could not be made here")
		}
		if a := h.call(t, "readResource", map[string]any{"name": skill, "path": "references/secret.md"}); a.code() != "permission_denied" {
			t.Errorf("readResource of %s: %s", skill, a.text())
		}
		if _, fault := h.readURI(t, "skill://"+skill+"/references/secret.md"); fault == nil || fault.Data.Code != "permission_denied" {
			t.Errorf("resources/read of %s: %+v", skill, fault)
		}
	}
	if a := h.call(t, "readResource", map[string]any{"name": "unreadable-directory", "path": "references"}); a.code() != "permission_denied" {
		t.Errorf("listing: %s", a.text())
	}
	if a := h.call(t, "activate", map[string]any{"name": "unreadable-entry"}); a.code() != "invalid_frontmatter" {
		t.Errorf("activate: %s", a.text())
	}
}

// testSparse: a file of 1 GiB is read in pages only.
func (h hostileSkills) testSparse(t *testing.T) {
	const size = 1 << 30
	if info, err := os.Stat(filepath.Join(h.root, "sparse-file", "assets", "huge.bin")); err != nil || info.Size() != size {
		t.Skip("the file could not be made here")
	}
	read := func(more map[string]any) answer {
		arguments := map[string]any{"name": "sparse-file", "path": "assets/huge.bin"}
		for key, value := range more {
			arguments[key] = value
		}
		return h.call(t, "readResource", arguments)
	}
	if a := read(nil); a.IsError || len(a.Content) != 2 || a.Content[1].Type != "resource_link" {
		t.Errorf("the whole: %+v", a)
	}
	if a := read(map[string]any{"length": size}); a.IsError || !strings.Contains(a.text(), `Read on with "offset": 262144.`) {
		t.Errorf("the first page: %s", a.text())
	}
	if a := read(map[string]any{"offset": size - 3}); len(a.Content) != 2 || a.Content[1].Resource.Blob != "AAAA" || strings.Contains(a.text(), "Truncated") {
		t.Errorf("the last page: %+v", a)
	}
	if a := read(map[string]any{"offset": size + 1}); a.code() != "out_of_range" {
		t.Errorf("beyond the end: %s", a.text())
	}
	if _, fault := h.readURI(t, "skill://sparse-file/assets/huge.bin"); fault == nil || fault.Data.Code != "too_large" {
		t.Errorf("resources/read: %+v", fault)
	}
	for _, skill := range []string{"sparse-file", "sparse-entry"} {
		if r := h.ask(t, "skills/get", map[string]any{"uri": "skill://" + skill + "/SKILL.md"}); r.Error == nil || r.Error.Data.Code != "too_large" {
			t.Errorf("skills/get of %s: %+v", skill, r.Error)
		}
	}
}

// testManyFiles: listings of ten thousand files page, or say that there are
// more.
func (h hostileSkills) testManyFiles(t *testing.T) {
	text := h.call(t, "activate", map[string]any{"name": "many-files"}).text()
	if lines := strings.Count(text, "\n- "); lines > 201 || !strings.Contains(text, "- files/00/00.txt (12 B)\n") || !strings.Contains(text, "\n- … and more") {
		t.Errorf("the activation lists %d lines:\n%s", lines, text)
	}
	if text := h.call(t, "readResource", map[string]any{"name": "many-files", "path": "."}).text(); !strings.Contains(text, "… and more") || len(text) > 100_000 {
		t.Errorf("the listing of %d bytes does not say that there are more", len(text))
	}
	if n := len(h.children(t, "skill://many-files/files")); n != 100 {
		t.Errorf("%d of 100 directories are listed", n)
	}
	if uris := h.children(t, "skill://many-files/files/99"); len(uris) != 100 || uris[99] != "skill://many-files/files/99/99.txt" {
		t.Errorf("the last directory: %q", uris)
	}
	if r := h.ask(t, "skills/get", map[string]any{"uri": "skill://many-files/SKILL.md"}); r.Error == nil || r.Error.Data.Code != "too_large" {
		t.Errorf("skills/get: %+v", r.Error)
	}
	r := h.ask(t, "completion/complete", map[string]any{
		"ref":      map[string]any{"type": "ref/resource", "uri": "skill://{+skill}/{+file}"},
		"argument": map[string]any{"name": "file", "value": "files/0"}, "context": map[string]any{"arguments": map[string]string{"skill": "many-files"}},
	})
	var result struct {
		Completion struct {
			Values  []string
			HasMore bool
		}
	}
	if r.Error != nil || json.Unmarshal(r.Result, &result) != nil || len(result.Completion.Values) != 100 || !result.Completion.HasMore {
		t.Errorf("completion: %+v %s", r.Error, r.Result)
	}
}

// testDeepTree: listings lead as deep as paths may go, and end there.
func (h hostileSkills) testDeepTree(t *testing.T) {
	const maxSegments = 64 // of a path that is served
	if _, err := os.Stat(filepath.Join(h.root, "deep-tree", strings.Repeat("d/", 200), "bottom.md")); err != nil {
		t.Skip("the tree could not be made here")
	}
	if text := h.call(t, "activate", map[string]any{"name": "deep-tree"}).text(); strings.Contains(text, "no files") || !strings.Contains(text, "… and more") {
		t.Errorf("the activation hides what lies deep:\n%s", text)
	}
	deepest := ""
	for dir := "."; dir != ""; {
		// Each listing leads to the next.
		text := h.call(t, "readResource", map[string]any{"name": "deep-tree", "path": dir}).text()
		dir = ""
		for line := range strings.Lines(text) {
			name := strings.TrimPrefix(strings.TrimSpace(line), "- ")
			if directory, ok := strings.CutSuffix(name, "/"); ok && len(directory) > len(deepest) {
				dir, deepest = directory, directory
			}
		}
	}
	if n := strings.Count(deepest, "/") + 1; n != maxSegments {
		t.Errorf("listings lead %d deep", n)
	}
	if a := h.call(t, "readResource", map[string]any{"name": "deep-tree", "path": strings.Repeat("d/", 200) + "bottom.md"}); a.code() != "invalid_path" {
		t.Errorf("the bottom reads %s", a.text())
	}
}

// testOddNames: whatever a file is named, it has one line in a listing and a
// URI that reads it.
func (h hostileSkills) testOddNames(t *testing.T) {
	for _, skill := range []string{"percent-files", "odd-names"} {
		if _, err := os.Stat(filepath.Join(h.root, skill)); err != nil {
			t.Logf("%s could not be made here", skill)
			continue
		}
		uris := h.children(t, "skill://"+skill+"/references")
		if len(uris) < 4 {
			t.Errorf("only %d files of %s are listed", len(uris), skill)
		}
		for _, uri := range uris {
			if strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"<>\^{|}`, c) }) {
				t.Errorf("%q is no URI", uri)
			}
			if read, fault := h.readURI(t, uri); fault != nil || read.Text == "" || read.URI != uri {
				t.Errorf("%s: %+v, %+v", uri, read, fault)
			}
		}
		a := h.call(t, "readResource", map[string]any{"name": skill, "path": "references"})
		lines := strings.Split(strings.TrimSpace(a.text()), "\n")
		if len(lines) != 1+len(uris) {
			t.Errorf("%d files have %d lines:\n%s", len(uris), len(lines)-1, a.text())
		}
		for _, line := range lines[1:] {
			h.readAsListed(t, skill, line)
		}
	}
	for name, directory := range oddDirs {
		if _, err := os.Stat(filepath.Join(h.root, directory)); err == nil {
			if read, fault := h.readURI(t, "skill://"+name+"/SKILL.md"); fault != nil || !strings.Contains(read.Text, "# "+name) {
				t.Errorf("%s: %+v, %+v", name, read, fault)
			}
		}
	}
	skill, ok := h.fixture.catalog.Snapshot().Lookup("a%2F..%2Fb?x#y")
	if !ok {
		t.Fatal("uri-name is not published")
	}
	if uri := resources.URI(skill, "SKILL.md"); uri != "skill://a%252F..%252Fb%3Fx%23y/SKILL.md" {
		t.Errorf("its URI is %s", uri)
	}
}

// readAsListed reads a file by the path that a line of a listing shows.
func (h hostileSkills) readAsListed(t *testing.T, skill, line string) {
	t.Helper()
	path := strings.TrimPrefix(line[:strings.LastIndex(line, " (")], "- ")
	if strings.HasPrefix(path, `"`) {
		if err := json.Unmarshal([]byte(path), &path); err != nil {
			t.Errorf("%s: %v", line, err)
			return
		}
	}
	if strings.Contains(path, "\uFFFD") {
		return // bytes that are no UTF-8, which only a URI can name
	}
	if a := h.call(t, "readResource", map[string]any{"name": skill, "path": path}); a.IsError {
		t.Errorf("what is listed as %s cannot be read: %s", line, a.text())
	}
}

// testHardLink: a hard link inside a skill is a file of the skill, but what a
// program linked is not read from its workspace.
func (h hostileSkills) testHardLink(t *testing.T) {
	if _, err := os.Stat(filepath.Join(h.root, "hard-link", "references", "outside.md")); err != nil {
		t.Skip("the link could not be made here")
	}
	before := strings.Count(h.transcript(), strings.TrimSpace(testdata.HardLinkText))
	run := h.exec(t, "hard-link", map[string]any{"command": `ln "$SKILL_DIR/references/outside.md" linked.txt && ln -s "$SKILL_DIR/references/outside.md" link.txt`})
	if run.exit() != 0 {
		t.Skipf("no hard link could be made in the workspace: %s", run.Stderr)
	}
	if len(run.Artifacts) != 0 || run.ArtifactsOmitted != 2 {
		t.Errorf("links are artifacts: %+v", run)
	}
	for _, file := range []string{"linked.txt", "link.txt"} {
		uri := "workspace://" + run.Workspace + "/" + file
		if read, fault := h.readURI(t, uri); fault == nil {
			t.Errorf("%s reads %q", file, read.Text)
		}
		if a := h.call(t, "readResource", map[string]any{"name": "hard-link", "path": uri}); !a.IsError {
			t.Errorf("%s reads %q", file, a.text())
		}
	}
	if after := strings.Count(h.transcript(), strings.TrimSpace(testdata.HardLinkText)); after != before {
		t.Error("the text behind the links was answered")
	}
}

// testLeaks searches all that was answered.
func (h hostileSkills) testLeaks(t *testing.T) {
	told := h.transcript()
	if len(told) < 100_000 {
		t.Fatalf("only %d bytes were answered", len(told))
	}
	forbidden := map[string]string{
		"the marker outside": testdata.OutsideMarker, "the users of this machine": "root:x:0:0:", "the server's environment": "PATH=",
		"the root's path": h.root, "the path above it": filepath.Dir(h.root), "the workspaces' path": h.fixture.workspaceBase,
		"the repository's path": filepath.Dir(testdata.Dir()),
	}
	if work, err := os.Getwd(); err == nil {
		forbidden["the working directory"] = work
	}
	for what, text := range forbidden {
		if at := strings.Index(told, text); at >= 0 {
			t.Errorf("%s was answered: …%s…", what, told[max(0, at-200):min(len(told), at+200)])
		}
	}
	// Both ways to read the link itself, and nothing else.
	if n := strings.Count(told, strings.TrimSpace(testdata.HardLinkText)); n > 2 {
		t.Errorf("the text of the hard link was answered %d times", n)
	}
}
