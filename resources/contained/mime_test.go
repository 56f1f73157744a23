package contained_test

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// encoded is a tiny image or archive as its encoder writes it.
func encoded(t *testing.T, encode func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type mediaTypeTest struct {
	name, content, want string
	text                bool
}

func mediaTypes(pngData, jpegData, gifData, webpData, zipData string) []mediaTypeTest {
	return []mediaTypeTest{
		{"a.md", "# A", "text/markdown", true},
		{"A.MD", "# A", "text/markdown", true},
		{"a.py", "print(1)", "text/x-python", true},
		{"a.sh", "#!/bin/sh\n", "text/x-shellscript", true},
		{"a.json", "{}", "application/json", true},
		{"a.yaml", "a: 1", "application/yaml", true},
		{"a.csv", "a,b\n", "text/csv", true},
		{"a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", true},
		{"a.pdf", "%PDF-1.7\n\x00", "application/pdf", false},
		{"a.docx", zipData, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false},
		{"a.png", pngData, "image/png", false},
		{"a.jpg", jpegData, "image/jpeg", false},
		{"a.gif", gifData, "image/gif", false},
		{"a.webp", webpData, "image/webp", false},
		{"empty.md", "", "text/markdown", true},
		{"bom.md", "\uFEFF# A", "text/markdown", true},
		{"cut.md", "ab" + strings.Repeat("€", 5000), "text/markdown", true}, // the sniffed beginning ends in a €

		// Names that tell nothing.
		{"LICENSE", "Apache License", "text/plain", true},
		{"run", "#!/usr/bin/env python3\nprint(1)\n", "text/x-python", true},
		{"picture", pngData, "image/png", false},
		{"archive.unknown", zipData, "application/zip", false},
		{"nothing", "", "text/plain", true},
		{"noise", "\x00\x01\x02", "application/octet-stream", false},

		// Names that lie: text is no image, and an image is no text.
		{"lie.png", "just text", "text/plain", true},
		{"lie.gif", "GIF89a but text", "text/plain", true},
		{"lie", "GIF89a but text", "text/plain", true},
		{"empty.png", "", "text/plain", true},
		{"noise.png", "\x00\x01\x02", "application/octet-stream", false},
		{"lie.md", pngData, "image/png", false},
		{"lie.svg", pngData, "image/png", false},
		{"lie.jpg", pngData, "image/png", false},
		{"binary.py", "\x00\x01", "application/octet-stream", false},
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	picture := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	pngData := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, picture) })
	jpegData := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, picture, nil) })
	gifData := encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, picture, nil) })
	webpData := "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"
	zipData := encoded(t, func(b *bytes.Buffer) error {
		w := zip.NewWriter(b)
		if _, err := w.Create("x"); err != nil {
			return err
		}
		return w.Close()
	})
	tests := mediaTypes(pngData, jpegData, gifData, webpData, zipData)
	files := map[string]string{}
	for _, test := range tests {
		files[test.name] = test.content
	}
	opened := filetest.Open(t, filetest.Plant(t, files), contained.Options{})
	for _, test := range tests {
		got, err := filetest.Read(opened, test.name, contained.Range{})
		if err != nil {
			t.Errorf("Read(%s): %v", test.name, err)
			continue
		}
		if got.MIME != test.want || got.Text != test.text || string(got.Data) != test.content {
			t.Errorf("%s is %s, text %v; want %s, text %v", test.name, got.MIME, got.Text, test.want, test.text)
		}
		whole, err := opened.ReadAll(test.name, 0)
		if err != nil || whole.MIME != test.want || whole.Text != test.text {
			t.Errorf("ReadAll(%s) is %s, text %v, %v; want %s", test.name, whole.MIME, whole.Text, err, test.want)
		}
	}
}

// Every page of a file has the file's media type, and no page of an image is
// text even where its bytes are.
func TestMediaTypeOfPages(t *testing.T) {
	t.Parallel()
	data := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + string(bytes.Repeat([]byte("text "), 10_000))
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{"a.png": data, "a": data}), contained.Options{})
	for _, name := range []string{"a.png", "a"} {
		got, err := filetest.Read(opened, name, contained.Range{Offset: 1000, Length: 10})
		if err != nil || got.MIME != "image/png" || got.Text {
			t.Errorf("a page of %s is %s, text %v, %v", name, got.MIME, got.Text, err)
		}
	}
}

// The entry document is Markdown whatever its name.
func TestMediaTypeOfEntryDocument(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"INSTRUCTIONS": "# Do", "OTHER": "# Do"})
	opened := filetest.Open(t, dir, contained.Options{Entry: "INSTRUCTIONS"})
	for name, want := range map[string]string{"INSTRUCTIONS": "text/markdown", "SKILL.md": "text/markdown", "OTHER": "text/plain"} {
		if got, err := filetest.Read(opened, name, contained.Range{}); err != nil || got.MIME != want {
			t.Errorf("%s is %s, %v; want %s", name, got.MIME, err, want)
		}
	}
}

func TestIsImage(t *testing.T) {
	t.Parallel()
	for mime, want := range map[string]bool{
		"image/png": true, "image/jpeg": true, "image/webp": true, "image/gif": true,
		"image/svg+xml": false, "image/bmp": false, "text/plain": false, "": false,
	} {
		if got := contained.IsImage(mime); got != want {
			t.Errorf("IsImage(%q) = %v", mime, got)
		}
	}
}

func TestTypeByName(t *testing.T) {
	for name, want := range map[string]string{
		"out/report.CSV": "text/csv", "chart.svg": "image/svg+xml", "a.png": "image/png",
		"Makefile": "application/octet-stream", "x.unknown": "application/octet-stream", "": "application/octet-stream",
	} {
		if got := contained.TypeByName(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
