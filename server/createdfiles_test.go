package server_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// createdFile is a file as every answer has it.
type createdFile map[string]any

// listedFiles returns the files of a workspace's directory as readResource and as
// resources/directory/read have them.
func (c *client) listedFiles(t *testing.T, uri string) (read, listed []createdFile) {
	t.Helper()
	var answer struct {
		Meta struct{ Files []createdFile } `json:"_meta"`
	}
	must(t, json.Unmarshal(c.ask(t, "tools/call", map[string]any{
		"name": "readResource", "arguments": map[string]any{"name": "note", "path": uri},
	}).Result, &answer))
	var directory struct {
		Resources []struct {
			URI  string
			Meta createdFile `json:"_meta"`
		}
	}
	must(t, json.Unmarshal(c.ask(t, "resources/directory/read", map[string]any{"uri": uri}).Result, &directory))
	for _, resource := range directory.Resources {
		if resource.Meta == nil { // a directory
			continue
		}
		if resource.Meta["id"] != resource.URI {
			t.Errorf("%s is %v", resource.URI, resource.Meta)
		}
		listed = append(listed, resource.Meta)
	}
	return answer.Meta.Files, listed
}

// TestCreatedFiles: a file that a program or a tool made has one form, wherever an
// answer names it.
func TestCreatedFiles(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(noteSkill))
	c := newFixture(t, root, "toolset=workspace").connect(t)
	a := c.call(t, "exec", map[string]any{
		"name": "note", "command": "printf 'a,b\n' > out.csv; mkdir sub; printf x > 'sub/ä b.txt'; ln -s /etc/passwd link; truncate -s 17M long",
	})
	var run struct {
		Workspace string
		Artifacts []createdFile
	}
	must(t, json.Unmarshal(a.Structured, &run))
	uri := "workspace://" + run.Workspace
	want := map[string]createdFile{
		"long": {"id": uri + "/long", "filename": "long", "size": 17.0 * (1 << 20), "mimeType": "application/octet-stream", "source": "workspace",
			"digest": "sha256:22427fd5e24f1989afefbda75c8daf74aa02a1d4b2ba47dae755b275d35da5cf"},
		"out.csv": {"id": uri + "/out.csv", "filename": "out.csv", "size": 4.0, "mimeType": "text/csv", "source": "workspace",
			"digest": "sha256:5be08c9684a1d25efcee09318204824278b08bbfb4aef973ffefd0b9d7478313"},
		"sub/ä b.txt": {"id": uri + "/sub/%C3%A4%20b.txt", "filename": "sub/ä b.txt", "size": 1.0, "mimeType": "text/plain", "source": "workspace",
			"digest": "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},
	}
	inOrder := func(names ...string) (files []createdFile) {
		for _, name := range names {
			files = append(files, want[name])
		}
		return files
	}
	if diff := cmp.Diff(inOrder("long", "out.csv", "sub/ä b.txt"), run.Artifacts); diff != "" {
		t.Errorf("what the run made (-want +got):\n%s", diff)
	}
	// Too much is not read for a listing.
	want["long"] = maps.Clone(want["long"])
	delete(want["long"], "digest")
	read, listed := c.listedFiles(t, uri)
	if diff := cmp.Diff(inOrder("long", "out.csv", "sub/ä b.txt"), read); diff != "" {
		t.Errorf("readResource (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(inOrder("long", "out.csv"), listed); diff != "" {
		t.Errorf("resources/directory/read (-want +got):\n%s", diff)
	}
	if _, listed := c.listedFiles(t, uri+"/sub"); !cmp.Equal(listed, inOrder("sub/ä b.txt")) {
		t.Errorf("a directory below it holds %v", listed)
	}
	for _, written := range []answer{
		c.call(t, "create_file", map[string]any{"path": "out.csv", "file_text": "a,c\n"}),
		c.call(t, "str_replace", map[string]any{"path": "out.csv", "old_str": "c", "new_str": "b"}),
	} {
		var done struct{ File createdFile }
		must(t, json.Unmarshal(written.Structured, &done))
		same := cmp.Equal(done.File, want["out.csv"])
		if keys := slices.Sorted(maps.Keys(done.File)); !slices.Equal(keys, slices.Sorted(maps.Keys(want["out.csv"]))) || same != (written.Content[0].Text[0] == 'E') {
			t.Errorf("%s made %v", written.text(), done.File)
		}
	}
	for _, refused := range []string{uri + "/out.csv", uri + "/none", uri + "/link", uri + "/.skills-mcp", uri + "/.skills-mcp/x", "workspace://ws-0", uri + "/../x"} {
		if r := c.ask(t, "resources/directory/read", map[string]any{"uri": refused}); r.Error == nil || r.Error.Data.Code == "internal_error" {
			t.Errorf("%s: %s, %+v", refused, r.Result, r.Error)
		}
	}
}
