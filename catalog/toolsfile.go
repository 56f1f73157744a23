package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// maxToolsBytes bounds a tools.json, in bytes.
const maxToolsBytes = 256 << 10

// ParseTools decodes and checks a tools.json: {"tools": [...]}, or the bare
// list. Each tool has name, description, inputSchema (or input_schema), run
// (or argv) and timeoutMs (or timeout_ms). Faulty tools become problems and
// do not cost the others; of two tools of one name the first is kept. The
// file is the name that the problems carry.
func ParseTools(file string, data []byte) ([]Tool, []Problem) {
	r := &problem.Report{File: file}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxToolsBytes {
		r.Add("tools-size", problem.Position{}, "the file is larger than %d KiB", maxToolsBytes>>10)
		return nil, r.Problems
	}
	if at, invalid := problem.InvalidUTF8(data, 1); invalid {
		r.Add("encoding", at, "the file is not UTF-8")
		return nil, r.Problems
	}
	f := &toolsFile{Report: r, data: data, decoder: json.NewDecoder(bytes.NewReader(data)), names: map[string]bool{}}
	var whole json.RawMessage
	err, at := json.Unmarshal(data, &whole), problem.Position{}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = f.at(syntax.Offset - 1)
	} else if err = f.parse(); err != nil {
		at = f.here()
	}
	if err != nil {
		r.Add("tools-syntax", at, "the file is not valid: %v", err)
		return nil, r.Problems
	}
	return f.tools, r.Problems
}

// toolsFile walks through a tools.json token by token, to know where each
// tool begins.
type toolsFile struct {
	*problem.Report
	data    []byte
	decoder *json.Decoder
	tools   []Tool
	names   map[string]bool
	listed  bool // a list of tools was there
}

// parse reads the tools of a file that is known to be JSON.
func (f *toolsFile) parse() error {
	token, err := f.decoder.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		return f.list()
	case json.Delim('{'):
		return f.object()
	}
	return errors.New("it is neither an object nor a list")
}

func (f *toolsFile) object() error {
	for f.decoder.More() {
		at := f.here()
		token, err := f.decoder.Token()
		if err != nil {
			return err
		}
		key := fmt.Sprint(token)
		if key != "tools" {
			var ignored json.RawMessage
			if err := f.decoder.Decode(&ignored); err != nil {
				return err
			}
			f.Add("tools-key", at, "the key %q is not known", problem.Clip(key))
			continue
		}
		token, err = f.decoder.Token()
		switch {
		case err != nil:
			return err
		case token != json.Delim('['):
			return errors.New("tools is not a list")
		case f.listed:
			return errors.New("tools stands there twice")
		}
		if err := f.list(); err != nil {
			return err
		}
	}
	if _, err := f.decoder.Token(); err != nil {
		return err
	}
	if !f.listed {
		return errors.New("it has no list of tools")
	}
	return nil
}

// list reads the tools after their opening bracket, and the closing one.
func (f *toolsFile) list() error {
	f.listed = true
	for f.decoder.More() {
		at := f.here()
		var raw json.RawMessage
		if err := f.decoder.Decode(&raw); err != nil {
			return err
		}
		p := &toolParser{Report: f.Report, at: at}
		tool, ok := p.parse(raw)
		if !ok {
			continue
		}
		if f.names[tool.Name] {
			f.Add("tools-duplicate", at, "the name %q is taken by an earlier tool", tool.Name)
			continue
		}
		f.names[tool.Name] = true
		f.tools = append(f.tools, tool)
	}
	_, err := f.decoder.Token()
	return err
}

// here is the place of the next value.
func (f *toolsFile) here() problem.Position {
	offset := f.decoder.InputOffset()
	for int(offset) < len(f.data) && bytes.IndexByte([]byte(" \t\r\n,:"), f.data[offset]) >= 0 {
		offset++
	}
	return f.at(offset)
}

func (f *toolsFile) at(offset int64) problem.Position {
	return problem.AtByte(f.data, max(0, min(int(offset), len(f.data))), 1)
}

func sortedKeys(keys map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(keys))
}
