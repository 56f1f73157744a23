// Package scaffolding makes new skills, of which authors change what they want.
package scaffolding

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var embedded embed.FS

// templates are the directories below templates, and what each is for.
var templates = map[string]string{
	"script":    "instructions, and a script that they have run",
	"reference": "instructions, and a file to read when it is needed",
	"tools":     "a tools.json, whose tools check their arguments",
}

// Templates returns their names.
func Templates() []string { return slices.Sorted(maps.Keys(templates)) }

// Help says what each is for.
func Help() string {
	var text []string
	for _, name := range Templates() {
		text = append(text, name+" ("+templates[name]+")")
	}
	return strings.Join(text, ",\n")
}

// Make makes the directory of a skill, in which nothing may be yet, and returns its
// files. The skill is called as the directory is.
func Make(dir, kind string) (files []string, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	from, err := fs.Sub(embedded, path.Join("templates", kind))
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			return root.Mkdir(name, 0o777)
		}
		files = append(files, name)
		return write(root, from, name, filepath.Base(dir))
	})
	return files, err
}

// write writes one file of a template. What is in scripts can be run.
func write(root *os.Root, from fs.FS, name, skill string) (err error) {
	parsed, err := template.ParseFS(from, name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if path.Dir(name) == "scripts" {
		mode = 0o777
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return parsed.Execute(file, skill)
}
