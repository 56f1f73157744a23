package server_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBinariesAreNeverCut: hosts store a binary that comes as a file, so it
// comes whole or as a link that gives it whole.
func TestBinariesAreNeverCut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	pdf := append([]byte("%PDF-1.7\n\x00\xff"), bytes.Repeat([]byte{0xfe, 1, 2, 3}, 2<<20)...)
	png := append([]byte("\x89PNG\r\n\x1a\n"), pdf[100:]...)
	writeFile(t, filepath.Join(root, "binary", "SKILL.md"), []byte("---\nname: binary\ndescription: Has binaries.\n---\n"))
	for name, content := range map[string][]byte{
		"small.pdf": pdf[:256<<10], "large.pdf": pdf[:256<<10+1], "larger.pdf": pdf, "photo.png": png[:5<<20], "icon.png": png[:1000],
	} {
		writeFile(t, filepath.Join(root, "binary", "assets", name), content)
	}
	huge := filepath.Join(root, "binary", "assets", "huge.pdf")
	writeFile(t, huge, pdf[:1000])
	if err := os.Truncate(huge, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	c := newFixture(t, root).connect(t)
	read := func(name string, more map[string]any) answer {
		arguments := map[string]any{"name": "binary", "path": "assets/" + name}
		for key, value := range more {
			arguments[key] = value
		}
		return c.call(t, "readResource", arguments)
	}
	decoded := func(blob string) []byte {
		data, err := base64.StdEncoding.DecodeString(blob)
		must(t, err)
		return data
	}

	small := read("small.pdf", nil)
	if last := small.Content[len(small.Content)-1]; last.Resource.MIMEType != "application/pdf" || !bytes.Equal(decoded(last.Resource.Blob), pdf[:256<<10]) {
		t.Errorf("a binary of 256 KiB does not come whole: %s", small.text())
	}
	if icon := read("icon.png", nil); icon.Content[len(icon.Content)-1].Type != "image" {
		t.Errorf("an image comes as %s", icon.text())
	}
	for name, whole := range map[string][]byte{"large.pdf": pdf[:256<<10+1], "larger.pdf": pdf, "photo.png": png[:5<<20]} {
		a := read(name, nil)
		link := a.Content[len(a.Content)-1]
		if a.IsError || link.Type != "resource_link" || !strings.Contains(a.text(), "resources/read") || !strings.Contains(a.text(), "$SKILL_DIR/assets/"+name) {
			t.Errorf("%s: %s %s", name, link.Type, a.text())
			continue
		}
		if contents, fault := c.readURI(t, link.URI); fault != nil || !bytes.Equal(decoded(contents.Blob), whole) {
			t.Errorf("%s is not whole by its link: %+v", name, fault)
		}
	}
	if a := read("huge.pdf", nil); a.IsError || strings.Contains(a.text(), "resources/read") || !strings.Contains(a.text(), "$SKILL_DIR/assets/huge.pdf") {
		t.Errorf("what resources/read refuses: %s", a.text())
	}
	if _, fault := c.readURI(t, "skill://binary/assets/huge.pdf"); fault == nil || fault.Data.Code != "too_large" || !strings.Contains(fault.Data.Hint, "the tool readResource") {
		t.Errorf("resources/read of what is too large: %+v", fault)
	}
	part := read("large.pdf", map[string]any{"offset": 4, "length": 8})
	if last := part.Content[len(part.Content)-1]; last.Resource.MIMEType != "application/octet-stream" || !bytes.Equal(decoded(last.Resource.Blob), pdf[4:12]) {
		t.Errorf("a part: %+v", part)
	}
}
