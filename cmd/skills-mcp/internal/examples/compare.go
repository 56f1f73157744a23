package examples

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// compare returns what is not as the example expects it.
func compare(e example, came answer) (faults []Fault) {
	at, expected := e.at.below("expect"), e.Expect
	faults = append(faults, compareEnding(at, expected, came)...)
	if came.ExitCode == nil && expected.Error == "" {
		return faults // the rest follows from that
	}
	if expected.Stdout != nil {
		faults = append(faults, expected.Stdout.compare(at.below("stdout"), "stdout", came.Stdout, came.StdoutFile != "")...)
	}
	if expected.Stderr != nil {
		faults = append(faults, expected.Stderr.compare(at.below("stderr"), "stderr", came.Stderr, came.StderrFile != "")...)
	}
	var created, changed []string
	for _, artifact := range came.Artifacts {
		if _, wasThere := e.Files[artifact.Path]; wasThere {
			changed = append(changed, artifact.Path)
		} else {
			created = append(created, artifact.Path)
		}
	}
	for _, paths := range []struct {
		key      string
		expected *[]string
		came     []string
	}{{"created", expected.Created, created}, {"changed", expected.Changed, changed}} {
		if paths.expected != nil {
			faults = append(faults, comparePaths(at.below(paths.key), paths.key, *paths.expected, paths.came, came.ArtifactsOmitted)...)
		}
	}
	return faults
}

// compareEnding looks at the exit code, and at the error in its place.
func compareEnding(at place, expected expectation, came answer) []Fault {
	code := ""
	switch {
	case came.Error != nil:
		code = came.Error.Code
	case came.ExitCode == nil: // a refusal before anything was run
		code, _, _ = strings.Cut(came.text, ":")
	}
	if expected.Error != "" && expected.Error != code {
		return []Fault{at.below("error").fault(false, "error: expected %s; %s", expected.Error, came.ending())}
	}
	want := 0
	switch {
	case expected.ExitCode != nil:
		want = *expected.ExitCode
	case expected.Error != "":
		return nil
	}
	if came.ExitCode == nil || *came.ExitCode != want {
		return []Fault{at.below("exitCode").fault(false, "exitCode: expected %d; %s", want, came.ending())}
	}
	return nil
}

// ending says how a call ended.
func (a answer) ending() string {
	switch {
	case a.ExitCode != nil:
		return fmt.Sprintf("it was %d", *a.ExitCode)
	case a.Error != nil:
		return fmt.Sprintf("it ended with %s: %s. %s", a.Error.Code, a.Error.Message, a.Error.Hint)
	}
	return "it was refused: " + truncate.To(strings.TrimSpace(a.text), 1000)
}

// compare looks at a text of which, where it was cut, only parts are there.
func (t text) compare(at place, what, came string, cut bool) (faults []Fault) {
	if t.Exact != nil {
		if cut {
			faults = append(faults, at.below("exact").fault(false, "%s: it was too long to be compared as a whole; let the program write it to a file", what))
		} else if expected := *t.Exact; strings.TrimSuffix(came, "\n") != strings.TrimSuffix(expected, "\n") {
			faults = append(faults, at.below("exact").fault(false, "%s: %s", what, difference(expected, came)))
		}
	}
	for _, part := range t.Contains {
		if !strings.Contains(came, part) {
			faults = append(faults, at.below("contains").fault(false, "%s: does not contain %q", what, part))
		}
	}
	for _, pattern := range t.Regexp {
		if !regexp.MustCompile(pattern).MatchString(came) {
			faults = append(faults, at.below("regexp").fault(false, "%s: does not match %s", what, pattern))
		}
	}
	return faults
}

// difference shows the first line in which two texts differ.
func difference(expected, came string) string {
	want, got := strings.Split(strings.TrimSuffix(expected, "\n"), "\n"), strings.Split(strings.TrimSuffix(came, "\n"), "\n")
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	line := func(lines []string) string {
		if i >= len(lines) {
			return "the end"
		}
		return fmt.Sprintf("%q", truncate.To(lines[i], 200))
	}
	return fmt.Sprintf("expected %s in line %d; it was %s", line(want), i+1, line(got))
}

// comparePaths looks at which files were made or changed.
func comparePaths(at place, what string, expected, came []string, omitted int) (faults []Fault) {
	if omitted > 0 {
		return []Fault{at.fault(true, "%s: %d more files were made or changed than are looked at", what, omitted)}
	}
	for _, path := range expected {
		if !slices.Contains(came, path) {
			faults = append(faults, at.fault(true, "%s: not %s", what, path))
		}
	}
	for _, path := range came {
		if !slices.Contains(expected, path) {
			faults = append(faults, at.fault(true, "%s: %s too", what, path))
		}
	}
	return faults
}
