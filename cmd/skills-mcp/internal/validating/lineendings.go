package validating

import (
	"bytes"
	"io/fs"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// maxInterpreterBytes is how much of a script is read for its first line: Linux
// reads no more either.
const maxInterpreterBytes = 256

// lineEndings warns of lines that end in CR where something goes by them.
func (r *Report) lineEndings(skill *catalog.Skill) {
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return // it went away since the scan
	}
	defer dir.Close()
	entry, err := dir.ReadAll(skill.Entry, maxRepairedBytes)
	if err == nil && bytes.ContainsRune(entry.Data, '\r') {
		r.add(catalog.Warning, "line-endings", documentOf(skill), "lines end in CR LF or CR, which some readers take for a part of values")
	}
	_, _ = dir.Walk(func(file string, info fs.FileInfo) error { // what cannot be read, others tell
		if info.Mode().IsRegular() && namesCR(headOf(dir, file)) {
			r.add(catalog.Warning, "line-endings", filepath.Join(skill.Shown(), filepath.FromSlash(file)), "the line that names the interpreter ends in CR, and Linux looks for one of that name")
		}
		return nil
	})
}

func headOf(dir *contained.Dir, name string) []byte {
	file, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	head, err := file.Read(contained.Range{Length: maxInterpreterBytes})
	if err != nil {
		return nil
	}
	return head.Data
}

// namesCR reports whether the line that names a script's interpreter ends in CR.
func namesCR(script []byte) bool {
	first, _, _ := bytes.Cut(script, []byte("\n"))
	return bytes.HasPrefix(first, []byte("#!")) && bytes.HasSuffix(first, []byte("\r"))
}
