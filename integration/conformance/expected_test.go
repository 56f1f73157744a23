package conformance

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// expectedFile lists the checks that are known to fail or warn, one a line:
//
//	scenario version check-id -- reason
const expectedFile = "expected.txt"

// expectation is one line of it.
type expectation struct {
	scenario, version, check string
	reason                   string
	line                     int
}

func readExpected(t *testing.T) []expectation {
	t.Helper()
	file, err := os.Open(expectedFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var known []expectation
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, reason, found := strings.Cut(line, " -- ")
		fields := strings.Fields(what)
		if !found || len(fields) != 3 || strings.TrimSpace(reason) == "" {
			t.Fatalf("%s:%d: not \"scenario version check-id -- reason\"", expectedFile, number)
		}
		e := expectation{fields[0], fields[1], fields[2], strings.TrimSpace(reason), number}
		if !slices.ContainsFunc(scenarios, func(s scenario) bool {
			return s.name == e.scenario && slices.Contains(s.versions, e.version)
		}) {
			t.Errorf("%s:%d: %s is not run at %s", expectedFile, number, e.scenario, e.version)
		}
		known = append(known, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return known
}

// find returns the expectation that a check fails, or nil.
func find(known []expectation, s scenario, version, check string) *expectation {
	for i, e := range known {
		if e.scenario == s.name && e.version == version && e.check == check {
			return &known[i]
		}
	}
	return nil
}

// Lines that are no expectations must not be overlooked.
func TestExpectedFile(t *testing.T) {
	t.Parallel()
	readExpected(t)
}
