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
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case FromEnvironment:
		return "environment " + o.Name
	case FromFlag:
		return "flag " + o.Name
	case FromProject:
		return fmt.Sprintf("project %s:%d", o.Name, o.Line)
	}
	return "default"
}

// position returns the origin as editors and terminals link it.
func (o Origin) position() string {
	switch {
	case o.Line == 0:
		return o.Name
	case o.Column == 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return fmt.Sprintf("%s:%d:%d", o.Name, o.Line, o.Column)
}
