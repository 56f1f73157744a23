package config

import (
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/editdistance"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// maxFaults bounds how many faults of one file are named.
const maxFaults = 20

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// Origin is where it stands.
	Origin Origin
	// Message says what is wrong, and what is allowed.
	Message string
}

func (f Fault) String() string {
	if f.Origin.Kind == FromFlag {
		return f.Origin.Name + " " + f.Message
	}
	return f.Origin.position() + ": " + f.Message
}

// Error is a configuration that is refused.
type Error struct {
	// Faults are in the order in which they stand in a file, at least one.
	Faults []Fault
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, fault := range e.Faults {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// nearest returns a remark on which of the known names one may have meant, or
// nothing.
func nearest(name string, known []string) string {
	best, distance := "", max(1, min(3, len(name)/2))+1
	for _, candidate := range known {
		if d := editdistance.Between(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// quoted shows a text of a file.
func quoted(text string) string {
	const longest = 80
	return fmt.Sprintf("%q", truncate.To(text, longest))
}
