// Package toolsfile reads tools.json, the file in which a skill declares the
// programs that it offers as tools. Its author is not trusted.
package toolsfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// maxBytes bounds a tools.json, in bytes.
const maxBytes = 256 << 10

// Parse decodes and checks a tools.json; see ParseTools of the catalog.
func Parse(file string, data []byte) ([]Tool, []problem.Problem) {
	r := &problem.Report{File: file}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxBytes {
		r.Add("tools-size", problem.Position{}, "the file is larger than %d KiB", maxBytes>>10)
		return nil, r.Problems
	}
	if at, invalid := problem.InvalidUTF8(data, 1); invalid {
		r.Add("encoding", at, "the file is not UTF-8")
		return nil, r.Problems
	}
	f := &walker{Report: r, data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	var whole json.RawMessage
	err, at := json.Unmarshal(data, &whole), problem.Position{}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = f.at(syntax.Offset - 1)
	} else if err = f.file(); err != nil {
		at = f.here()
	}
	if err != nil {
		r.Add("tools-syntax", at, "the file is not valid: %v", err)
		return nil, r.Problems
	}
	return f.tools, r.Problems
}

// walker walks through a file that is known to be JSON, token by token, to know
// where each tool begins.
type walker struct {
	*problem.Report
	data    []byte
	decoder *json.Decoder
	tools   []Tool
}

func (f *walker) next() json.Token {
	token, _ := f.decoder.Token() // it is JSON
	return token
}

func (f *walker) value() (raw json.RawMessage) {
	_ = f.decoder.Decode(&raw) // it is JSON
	return raw
}

func (f *walker) file() error {
	switch f.next() {
	case json.Delim('['):
		f.list()
		return nil
	case json.Delim('{'):
		return f.object()
	}
	return errors.New("it is neither an object nor a list")
}

func (f *walker) object() error {
	listed := false
	for f.decoder.More() {
		at := f.here()
		key := fmt.Sprint(f.next())
		switch {
		case key != "tools":
			f.value()
			f.Add("tools-key", at, "the key %q is not known", problem.Clip(key))
			continue
		case f.next() != json.Delim('['):
			return errors.New("tools is not a list")
		case listed:
			return errors.New("tools stands there twice")
		}
		listed = true
		f.list()
	}
	f.next()
	if !listed {
		return errors.New("it has no list of tools")
	}
	return nil
}

// list reads the tools after their opening bracket, and the closing one.
func (f *walker) list() {
	for f.decoder.More() {
		p := &parser{Report: f.Report, at: f.here()}
		tool, ok := p.parse(f.value())
		switch {
		case !ok:
		case slices.ContainsFunc(f.tools, func(other Tool) bool { return other.Name == tool.Name }):
			f.Add("tools-duplicate", p.at, "the name %q is taken by an earlier tool", tool.Name)
		default:
			f.tools = append(f.tools, tool)
		}
	}
	f.next()
}

// here returns where the next value begins.
func (f *walker) here() problem.Position {
	offset := f.decoder.InputOffset()
	for int(offset) < len(f.data) && bytes.IndexByte([]byte(" \t\r\n,:"), f.data[offset]) >= 0 {
		offset++
	}
	return f.at(offset)
}

func (f *walker) at(offset int64) problem.Position {
	return problem.AtByte(f.data, max(0, min(int(offset), len(f.data))), 1)
}
