package config

import "fmt"

// Kind is the kind of an [Origin].
type Kind int

// The kinds of origins, those that win over the others last.
const (
	FromDefault Kind = iota
	FromFile
	FromEnvironment
	FromFlag
	FromProject
)

// Origin is where a value comes from.
type Origin struct {
	Kind Kind
	// Name is the file's path, the variable's name, or what the flag is called.
	Name string
	// Line and Column are where in a file, counted from 1, else 0.
	Line, Column int
}

// String returns the origin as it is printed beside a value.
func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		return o.line()
	case FromEnvironment:
		return "environment " + o.Name
	case FromFlag:
		return "flag " + o.Name
	case FromProject:
		return "project " + o.line()
	}
	return "default"
}

// position returns the origin as editors and terminals link it.
func (o Origin) position() string {
	if o.Column == 0 {
		return o.line()
	}
	return fmt.Sprintf("%s:%d", o.line(), o.Column)
}

// line returns the file and the line, where that is known.
func (o Origin) line() string {
	if o.Line == 0 {
		return o.Name
	}
	return fmt.Sprintf("%s:%d", o.Name, o.Line)
}
