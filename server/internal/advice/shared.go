package advice

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

var (
	// missingFaults are what programs say of a file that is not there, or of a
	// setting that they would have read from it.
	missingFaults = lazyregexp.New(`(?i)no such file|\bENOENT\b|not found|cannot find|can't find|could not find|does not exist|doesn't exist|\bmissing\b|` +
		`(cannot|can't|could not|couldn't|failed to|unable to) (open|read|load|access|stat)`)
	// ownerFaults are what programs say where a file's owner is unknown to the
	// sandbox.
	ownerFaults = lazyregexp.New(`(?i)value too large for defined data type|\bEOVERFLOW\b`)
)

const otherOwner = "What belongs to another user than the rest of the directory can be read there and not changed: let the program write a new file beside it, " +
	"or ask the user to make it theirs."

// wantedHidden is about files that are hidden from programs and that one failed
// to find, each name once. It is empty where there are none.
func wantedHidden(result sandbox.Result, hidden []project.Masked) string {
	if len(hidden) == 0 {
		return ""
	}
	wanted := missingLines(result)
	var names []string
	var reason string
	for _, file := range hidden {
		name := path.Base(file.Path)
		if file.Replaced || !mentions(wanted, name) {
			continue
		}
		if len(names) == maxStrays {
			break
		}
		names, reason = append(names, display.Path(file.Path)), file.Reason
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s is hidden from programs on purpose (it %s): %s", names[0], reason, withoutHidden)
	}
	return fmt.Sprintf("%s are hidden from programs on purpose: %s", strings.Join(names, " and "), withoutHidden)
}

const withoutHidden = "do without, or ask the user to run this step, or to show it by project.shown in their configuration."

// missingLines returns the lines of a program's output that say that something
// is missing.
func missingLines(result sandbox.Result) (lines [][]byte) {
	for _, output := range [][]byte{result.Stderr.Data, result.Stdout.Data} {
		for line := range bytes.Lines(output) {
			if missingFaults().Match(line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// mentions reports whether a line has a name that is no part of a longer one.
func mentions(lines [][]byte, name string) bool {
	inName := func(c byte) bool {
		return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	for _, line := range lines {
		for from := 0; ; {
			at := bytes.Index(line[from:], []byte(name))
			if at < 0 {
				break
			}
			at += from
			from = at + len(name)
			// A full stop or colon may end a sentence, and not begin a suffix.
			after := line[from:]
			suffixed := len(after) > 1 && after[0] == '.' && inName(after[1]) || len(after) > 0 && inName(after[0])
			if !suffixed && (at == 0 || !inName(line[at-1]) && line[at-1] != '.') {
				return true
			}
		}
	}
	return false
}

// wroteOthers reports whether a program failed to change what is another user's.
// Where nothing of the user is shared there is no such file.
func wroteOthers(spec sandbox.Spec, result sandbox.Result) bool {
	if len(spec.Shares) == 0 {
		return false
	}
	return ownerFaults().Match(result.Stderr.Data) || ownerFaults().Match(result.Stdout.Data)
}
