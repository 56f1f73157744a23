// Package yamldoc parses texts that hold one YAML document, whose authors are
// not trusted, into nodes that know where they stand.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"
)

// ErrSeveral means that a text holds more than one document.
var ErrSeveral = errors.New("more than one YAML document")

var errParser = errors.New("the YAML parser gave up")

// Parse returns the node below the only document of a UTF-8 text, or nil where
// there is none. It leaves aliases as they are, and looks for no keys that stand
// there twice. What is wrong with the text may be an [*yaml.LoadError], which
// [Fault] reads.
func Parse(source []byte) (root *yaml.Node, err error) {
	// Parsers of YAML are known to have panicked on hostile input.
	defer func() {
		if cause := recover(); cause != nil {
			root, err = nil, fmt.Errorf("%w: %v", errParser, cause)
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(source))
	if err != nil {
		return nil, err
	}
	var document, second yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := loader.Load(&second); err == nil {
		return nil, ErrSeveral
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, nil
	}
	return document.Content[0], nil
}

// Fault returns what an error of [Parse] says, and the line and the column,
// counted from 1, at which it is; 0 where that is not known.
func Fault(source []byte, err error) (message string, line, column int) {
	fault, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return err.Error(), 0, 0
	}
	mark := fault.Mark
	if mark.Line > bytes.Count(source, []byte("\n")) && fault.ContextMark.Line > 0 {
		mark = fault.ContextMark // the beginning of what does not end
	}
	if mark.Line <= 0 {
		return fault.Message, 0, 0
	}
	return fault.Message, mark.Line, mark.Column
}

// IsDisputed reports whether a character breaks lines in YAML 1.1 and not in
// YAML 1.2 (section 5.4), so that what follows is a key of its own to some
// readers, or is not printable (section 5.1), which some refuse.
func IsDisputed(c rune) bool {
	switch c {
	case '\t', '\n', '\r':
		return false
	case '\u2028', '\u2029', '\ufffe', '\uffff':
		return true
	}
	return c < ' ' || c >= 0x7f && c < 0xa0
}
