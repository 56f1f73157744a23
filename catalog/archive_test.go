package catalog_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// member is a file of an archive.
type member struct {
	name, text string
	mode       fs.FileMode // zero is a regular file, 0644
}

func pack(t testing.TB, members ...member) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if header.SetMode(0o644); m.mode != 0 {
			header.SetMode(m.mode)
		}
		f, err := w.CreateHeader(header)
		check(t, err)
		if !strings.HasSuffix(m.name, "/") {
			_, err = f.Write([]byte(m.text))
			check(t, err)
		}
	}
	check(t, w.Close())
	return out.String()
}

func TestArchives(t *testing.T) {
	t.Parallel()
	one := pack(t, member{name: "SKILL.md", text: skillText("one", "x")}, member{name: "scripts/run.sh", text: "#!/bin/sh\n", mode: 0o755})
	two := pack(t, member{name: "two/", mode: fs.ModeDir | 0o755}, member{name: "two/SKILL.md", text: skillText("two", "x")},
		member{name: "two/in/SKILL.md", text: skillText("in", "x")}, member{name: "two/tools.json", text: "[]"},
		member{name: "__MACOSX/._two", text: "x"}, member{name: "two/.DS_Store", text: "x"},
		member{name: "nested.zip", text: one})
	dir := plant(t, map[string]string{
		"one.skill": one, "group.ZIP": two, "sub/not-here.zip": one,
		"skill/SKILL.md": skillText("skill", "x"), "skill/asset.zip": one,
	})
	c := open(t, catalog.Options{Roots: []catalog.Root{{Path: dir, Prefix: "acme"}}})
	s := c.Snapshot()
	wantNames(t, s, "in one skill two")
	wantRules(t, s.Problems(), "")
	if skill := lookup(t, s, "one"); skill.Path != "acme/one" || skill.Stale() {
		t.Errorf("path %s, stale %v", skill.Path, skill.Stale())
	}
	if !lookup(t, s, "two").HasTools {
		t.Error("tools.json of the archive was not seen")
	}
	script := filepath.Join(lookup(t, s, "one").Dir, "scripts/run.sh")
	info, err := os.Stat(script)
	check(t, err)
	if info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the script lost its mode: %v", info.Mode())
	}
	private, err := os.Stat(filepath.Join(lookup(t, s, "one").Dir, "../.."))
	check(t, err)
	if private.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may enter the temporary directory: %v", private.Mode())
	}
	wantNames(t, openDirs(t, filepath.Join(dir, "skill")).Snapshot(), "skill") // its archive is a file of it
	check(t, c.Close())
	if _, err := os.Stat(script); err == nil {
		t.Error("the archive's contents outlived Close")
	}
}

func TestArchiveAsRoot(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"x.skill": pack(t, member{name: "SKILL.md", text: skillText("demo", "one")})})
	path := filepath.Join(dir, "x.skill")
	c := openDirs(t, path)
	first := lookup(t, c.Snapshot(), "demo")
	if again := lookup(t, rescan(t, c), "demo"); again.Dir != first.Dir {
		t.Error("an unchanged archive was extracted again")
	}
	write(t, path, pack(t, member{name: "SKILL.md", text: skillText("demo", "two")}))
	second := lookup(t, rescan(t, c), "demo")
	if second.Description != "two" {
		t.Errorf("after a change: %q", second.Description)
	}
	if _, err := os.Stat(first.Dir); err != nil {
		t.Errorf("the contents went away under those who read them: %v", err)
	}
	if now, ok, err := c.Refresh(t.Context(), "demo"); err != nil || !ok || now.Dir != second.Dir {
		t.Errorf("refreshed: %+v, %v, %v", now, ok, err)
	}
	if _, err := os.Stat(first.Dir); err == nil {
		t.Error("superseded contents are never removed")
	}
	write(t, path, "half an archive")
	if kept := lookup(t, rescan(t, c), "demo"); kept.Dir != second.Dir {
		t.Error("a broken archive did not keep the last good contents")
	}
	wantRules(t, c.Snapshot().Problems(), "archive-format")
	check(t, os.RemoveAll(filepath.Dir(filepath.Dir(second.Dir))))
	write(t, path, pack(t, member{name: "SKILL.md", text: skillText("demo", "three")}))
	if got := lookup(t, rescan(t, c), "demo").Description; got != "three" {
		t.Errorf("after somebody removed the temporary directory: %q", got)
	}
	check(t, os.Remove(path))
	wantNames(t, rescan(t, c), "")
	wantRules(t, c.Snapshot().Problems(), "root-missing")
}

func TestHostileArchives(t *testing.T) {
	t.Parallel()
	good := member{name: "SKILL.md", text: skillText("demo", "x")}
	many := []member{good}
	for i := range 8192 {
		many = append(many, member{name: fmt.Sprintf("f%d", i)})
	}
	for name, test := range map[string]struct{ archive, rule string }{
		"not an archive":    {"hello", "archive-format"},
		"empty":             {"", "archive-format"},
		"no skill":          {pack(t, member{name: "a.txt", text: "x"}), "archive-empty"},
		"parent":            {pack(t, good, member{name: "../evil", text: "x"}), "archive-name"},
		"inner parent":      {pack(t, good, member{name: "a/../../evil", text: "x"}), "archive-name"},
		"absolute":          {pack(t, good, member{name: "/evil", text: "x"}), "archive-name"},
		"backslash":         {pack(t, good, member{name: `a\evil`, text: "x"}), "archive-name"},
		"drive":             {pack(t, good, member{name: "C:evil", text: "x"}), "archive-name"},
		"empty segment":     {pack(t, good, member{name: "a//b", text: "x"}), "archive-name"},
		"dot":               {pack(t, good, member{name: "./a", text: "x"}), "archive-name"},
		"not UTF-8":         {pack(t, good, member{name: "a\xff", text: "x"}), "archive-name"},
		"NUL":               {pack(t, good, member{name: "a\x00b", text: "x"}), "archive-name"},
		"escape":            {pack(t, good, member{name: "a\x1b[2J", text: "x"}), "archive-name"},
		"line break":        {pack(t, good, member{name: "a\nb", text: "x"}), "archive-name"},
		"next line":         {pack(t, good, member{name: "a\u0085b", text: "x"}), "archive-name"},
		"right to left":     {pack(t, good, member{name: "a\u202egpj.sh", text: "x"}), "archive-name"},
		"isolate":           {pack(t, good, member{name: "d\u2066/b", text: "x"}), "archive-name"},
		"very deep":         {pack(t, good, member{name: strings.Repeat("a/", 40) + "b", text: "x"}), "archive-name"},
		"symbolic link":     {pack(t, good, member{name: "link", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), "archive-link"},
		"device":            {pack(t, good, member{name: "zero", mode: fs.ModeDevice | fs.ModeCharDevice | 0o666}), "archive-link"},
		"FIFO":              {pack(t, good, member{name: "pipe", mode: fs.ModeNamedPipe | 0o666}), "archive-link"},
		"name twice":        {pack(t, good, good), "archive-duplicate"},
		"case collision":    {pack(t, good, member{name: "Skill.md", text: "x"}), "archive-duplicate"},
		"directory's case":  {pack(t, good, member{name: "a/x", text: "x"}, member{name: "A/y", text: "x"}), "archive-duplicate"},
		"file as directory": {pack(t, good, member{name: "a", text: "x"}, member{name: "a/b", text: "x"}), "archive-duplicate"},
		"directory as file": {pack(t, good, member{name: "a/b", text: "x"}, member{name: "a", text: "x"}), "archive-duplicate"},
		"bomb":              {pack(t, good, member{name: "zeros", text: strings.Repeat("\x00", 8<<20)}), "archive-limit"},
		"many files":        {pack(t, many...), "archive-limit"},
		"wrong checksum":    {corrupt(pack(t, good), 60), "archive-format"},
		"cut short":         {pack(t, good)[:100], "archive-format"},
		"something before":  {"#!/bin/sh\n" + pack(t, good), "archive-format"},
		"encrypted":         {setFlags(pack(t, good), 1), "archive-format"},
		"unknown method":    {method(pack(t, good), 99), "archive-format"},
	} {
		dir := plant(t, map[string]string{"x/demo.zip": test.archive})
		s := openDirs(t, filepath.Join(dir, "x")).Snapshot()
		wantNames(t, s, "")
		if got := rules(s.Problems()); got != test.rule {
			t.Errorf("%s: broke %q, want %q: %v", name, got, test.rule, s.Problems())
		}
		unpackEvil(t, name, filepath.Join(dir, "x", "demo.zip"), test.rule)
		if _, err := os.Stat(filepath.Join(dir, "evil")); err == nil {
			t.Errorf("%s: a file was written outside", name)
		}
	}
}

func corrupt(archive string, at int) string {
	return archive[:at] + string(archive[at]^0x55) + archive[at+1:]
}

// central returns the offset of the first central directory header (APPNOTE
// 4.3.12).
func central(archive string) int { return strings.Index(archive, "PK\x01\x02") }

func setFlags(archive string, bits uint16) string {
	data := []byte(archive)
	binary.LittleEndian.PutUint16(data[central(archive)+8:], bits)
	return string(data)
}

func method(archive string, id uint16) string {
	data := []byte(archive)
	binary.LittleEndian.PutUint16(data[central(archive)+10:], id)
	return string(data)
}
