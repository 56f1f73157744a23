// Package examples reads the examples that a skill keeps in tests/*.yaml, runs
// each as a model's call of the tool exec, and compares what comes of it with what
// is expected.
//
// Their author is the skill's, and is not trusted: what the files may say is
// bounded by a schema, and what runs is what the policy allows in the sandbox.
package examples

import (
	"cmp"
	_ "embed" // for the schema
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/editdistance"
	"github.com/skills-mcp/skills-mcp/internal/jsonschema"
	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

const (
	// dirName is the directory of a skill in which its examples are.
	dirName = "tests"
	// maxFileBytes and maxFiles bound the files of one skill.
	maxFileBytes = 256 << 10
	maxFiles     = 100
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema of a file of examples.
func Schema() []byte { return schemaJSON }

// Fault is one thing that is wrong with a file, or not as an example expects it.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// example is one of a file.
type example struct {
	Name   string                     `json:"name"`
	Exec   map[string]json.RawMessage `json:"exec"`
	Files  map[string]string          `json:"files"`
	Expect expectation                `json:"expect"`

	at place
}

type expectation struct {
	ExitCode *int            `json:"exitCode"`
	Error    string          `json:"error"`
	Stdout   *text           `json:"stdout"`
	Stderr   *text           `json:"stderr"`
	Created  *[]string       `json:"created"`
	Changed  *[]string       `json:"changed"`
	Files    map[string]text `json:"files"`
}

// text is what is expected of one.
type text struct {
	Exact    *string `json:"exact"`
	Contains list    `json:"contains"`
	Regexp   list    `json:"regexp"`
}

// list is one text, or several.
type list []string

// UnmarshalJSON reads either.
func (l *list) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = list{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// place is where a value stands in a file.
type place struct {
	file     string
	document *yamldoc.Strict
	path     []string
}

func (p place) below(steps ...string) place {
	p.path = append(slices.Clone(p.path), steps...)
	return p
}

// fault says what is wrong there; with atKey, at the key.
func (p place) fault(atKey bool, format string, args ...any) Fault {
	line, column := p.document.Position(p.path, atKey)
	return Fault{p.file, line, column, fmt.Sprintf(format, args...)}
}

// read returns the examples of a skill, and what is wrong with its files.
func read(skill *catalog.Skill) (all []example, faults []Fault) {
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return nil, []Fault{{File: skill.Shown(), Message: err.Error()}}
	}
	defer dir.Close()
	entries, more, err := dir.List(dirName, 1)
	if refused, ok := errors.AsType[*contained.Error](err); ok {
		if refused.Rule == contained.NotFound || refused.Rule == contained.NotDirectory {
			return nil, nil
		}
		return nil, []Fault{{File: filepath.Join(skill.Shown(), dirName), Message: refused.Message}}
	}
	names := yamlFiles(entries)
	if more || len(names) > maxFiles {
		return nil, []Fault{{File: filepath.Join(skill.Shown(), dirName), Message: fmt.Sprintf("has more than %d files of examples", maxFiles)}}
	}
	for _, name := range names {
		file := filepath.Join(skill.Shown(), filepath.FromSlash(name))
		content, err := dir.ReadAll(name, maxFileBytes)
		if err != nil {
			faults = append(faults, Fault{File: file, Message: err.Error()})
			continue
		}
		found, wrong := parse(file, content.Data)
		all, faults = append(all, found...), append(faults, wrong...)
	}
	return all, faults
}

func yamlFiles(entries []contained.Entry) (names []string) {
	for _, entry := range entries {
		if extension := path.Ext(entry.Path); !entry.Dir && (extension == ".yaml" || extension == ".yml") {
			names = append(names, entry.Path)
		}
	}
	return names
}

// parse reads one file. Where anything is wrong with it, it has no examples.
func parse(file string, source []byte) ([]example, []Fault) {
	document, refusals := yamldoc.ParseStrict(source)
	var faults []Fault
	for _, refusal := range refusals {
		faults = append(faults, Fault{file, refusal.Line, refusal.Column, refusal.Message})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	whole := place{file: file, document: document}
	if faults = schemaFaults(whole); len(faults) > 0 {
		return nil, faults
	}
	var content struct{ Examples []example }
	if err := json.Unmarshal(document.JSON, &content); err != nil {
		return nil, []Fault{whole.fault(false, "%v", err)}
	}
	lines := map[string]int{}
	for i := range content.Examples {
		each := &content.Examples[i]
		each.at = whole.below("examples", fmt.Sprint(i))
		faults = append(faults, each.faults()...)
		line, _ := document.Position(each.at.path, false)
		if first, twice := lines[each.Name]; twice {
			faults = append(faults, each.at.below("name").fault(false, "the example on line %d has that name too; give each its own", first))
		}
		lines[each.Name] = line
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return content.Examples, nil
}

// schemaFaults holds a document to the schema.
func schemaFaults(whole place) (faults []Fault) {
	schema, err := jsonschema.Compile(schemaJSON)
	if err != nil {
		panic(err) // it is a part of this program
	}
	found, err := schema.Check(whole.document.JSON)
	if err != nil {
		return []Fault{whole.fault(false, "%v", err)}
	}
	for _, fault := range found {
		at := whole.below(fault.Path...)
		for _, key := range fault.Unknown {
			faults = append(faults, at.below(key).fault(true, "there is no key %q here%s", key, meant(key, fault.Known)))
		}
		if len(fault.Unknown) == 0 {
			faults = append(faults, at.fault(false, "%s: %s; 'skills-mcp test --schema' says what may stand here", shown(fault.Path), fault.Message))
		}
	}
	slices.SortFunc(faults, byPlace)
	return faults
}

// shown is a path as people read it.
func shown(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

// meant says which key may have been meant.
func meant(key string, known []string) string {
	for _, each := range known {
		if editdistance.Between(strings.ToLower(key), strings.ToLower(each)) <= 2 {
			return fmt.Sprintf("; did you mean %s?", each)
		}
	}
	return "; there are " + strings.Join(known, ", ")
}

// faults returns what is wrong with an example that no schema says.
func (e *example) faults() (faults []Fault) {
	if e.programs() != 1 {
		faults = append(faults, e.at.below("exec").fault(true, "give exactly one of script, command and tool"))
	}
	patterns := func(at place, expected *text) {
		if expected == nil {
			return
		}
		for _, pattern := range expected.Regexp {
			if _, err := regexp.Compile(pattern); err != nil {
				faults = append(faults, at.below("regexp").fault(false, "%v; write it as Go has regular expressions", err))
			}
		}
	}
	at := e.at.below("expect")
	patterns(at.below("stdout"), e.Expect.Stdout)
	patterns(at.below("stderr"), e.Expect.Stderr)
	for name, expected := range e.Expect.Files {
		patterns(at.below("files", name), &expected)
	}
	for name := range e.Files {
		if clean, err := contained.Clean(name); err != nil || clean != name {
			faults = append(faults, e.at.below("files", name).fault(true, "%q is no path in a workspace; write it relative and without . and ..", name))
		}
	}
	slices.SortFunc(faults, byPlace)
	return faults
}

func byPlace(a, b Fault) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }

func (e *example) programs() (n int) {
	for _, key := range []string{"script", "command", "tool"} {
		if e.Exec[key] != nil {
			n++
		}
	}
	return n
}
