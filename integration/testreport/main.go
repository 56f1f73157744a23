// Testreport reads what go test -json writes and prints what a reader wants of
// it: failures with their logs, each package's closing line, what was left out
// and how to get it, the slowest tests, and at last once more what failed.
//
//	go test -json ./... | go run ./integration/testreport
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	r := report{out: os.Stdout, logs: make(map[test][]string), skipped: make(map[string][]test)}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	r.printSkipped()
	r.printSlowest()
	r.printFailed()
}

const (
	slowestCount = 10 // tests
	// Where only the end of an output is kept, as of a long run, it is to tell
	// what failed.
	failedCount    = 12  // tests
	failedLines    = 4   // of each
	failedLineSize = 200 // characters of each line
)

// module is left out of the names of packages.
const module = "github.com/skills-mcp/skills-mcp/"

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// test names a test, or a package where name is empty.
type test struct{ pkg, name string }

func (t test) String() string { return strings.TrimPrefix(t.pkg, module) + "." + t.name }

type timing struct {
	test    test
	seconds float64
}

type report struct {
	out     io.Writer
	logs    map[test][]string // of tests that have not ended
	skipped map[string][]test // by reason
	times   []timing          // of tests that are no part of another
	said    []string          // by others than tests: the go command, integration/leftovers
	failed  []failure
}

// failure is a test that failed by itself and not by its parts, with the lines
// of its log that say why.
type failure struct {
	test  test
	lines []string
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			r.say(string(line))
		default:
			r.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	t := test{e.Package, e.Test}
	switch {
	case e.Action == "output" && e.Test != "":
		r.logs[t] = append(r.logs[t], e.Output)
		return
	case e.Action == "output", e.Action == "build-output":
		if e.Output != "PASS\n" {
			fmt.Fprint(r.out, e.Output)
		}
		if strings.HasPrefix(e.Output, "FAIL\t") || e.Action == "build-output" {
			r.said = append(r.said, e.Output)
		}
		return
	case e.Action == "fail":
		r.printLogs(t)
	case e.Action == "skip" && e.Test != "":
		reason := reasonIn(r.logs[t])
		r.skipped[reason] = append(r.skipped[reason], t)
	case e.Action != "pass":
		return
	}
	delete(r.logs, t)
	if e.Test != "" && !strings.Contains(e.Test, "/") {
		r.times = append(r.times, timing{t, e.Elapsed})
	}
}

func (r *report) say(line string) {
	fmt.Fprint(r.out, line)
	if !strings.HasPrefix(line, "go: downloading") {
		r.said = append(r.said, line)
	}
}

// frame is what go test says of the state of a test.
var frame = regexp.MustCompile(`^(=== |\s*--- PASS)`)

// printLogs prints what a test wrote that failed, or where a package failed,
// what its tests wrote that did not end.
func (r *report) printLogs(failed test) {
	for t, lines := range r.logs {
		if t != failed && (failed.name != "" || t.pkg != failed.pkg) {
			continue
		}
		fmt.Fprintf(r.out, "=== %s\n", t)
		for _, line := range lines {
			if !frame.MatchString(line) {
				fmt.Fprint(r.out, line)
			}
		}
		if why := reasons(lines); len(why) > 0 {
			r.failed = append(r.failed, failure{t, why})
		}
		delete(r.logs, t)
	}
}

// telling begins the lines of a log that say what was wrong.
var telling = regexp.MustCompile(`^(\s+\S+\.go:\d+: |panic: |fatal error: |WARNING: DATA RACE)`)

// reasons returns the lines of a log that most likely say why the test failed.
func reasons(log []string) []string {
	var all, likely []string
	for _, line := range log {
		if frame.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") {
			continue
		}
		all = append(all, line)
		if telling.MatchString(line) {
			likely = append(likely, line)
		}
	}
	if len(likely) == 0 {
		likely = all
	}
	return likely[max(0, len(likely)-failedLines):]
}

var position = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

// common begins the reasons that are told apart by no more.
var common = regexp.MustCompile(`^(needs \w+|left out by -short|left to SKILLS_MCP_TEST=all)`)

// reasonIn returns why a test was skipped, by what it logged last.
func reasonIn(log []string) string {
	for _, line := range slices.Backward(log) {
		if at := position.FindString(line); at != "" {
			reason := strings.TrimSpace(strings.TrimPrefix(line, at))
			return cmp.Or(common.FindString(reason), reason)
		}
	}
	return "no reason given"
}

// howTo says how to get what was left out for a reason.
func howTo(reason string) string {
	switch {
	case strings.HasPrefix(reason, "needs "):
		return ": make test-setup installs it"
	case strings.HasPrefix(reason, "left out by -short"):
		return ": make test runs them"
	case strings.HasPrefix(reason, "left to "):
		return ": make test-all runs them"
	default:
		return ""
	}
}

func (r *report) printSkipped() {
	if len(r.skipped) == 0 {
		return
	}
	reasons := make([]string, 0, len(r.skipped))
	for reason := range r.skipped {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(r.skipped[b]), len(r.skipped[a])), cmp.Compare(a, b))
	})
	fmt.Fprintln(r.out, "\nLeft out:")
	for _, reason := range reasons {
		tests := r.skipped[reason]
		more := ""
		if len(tests) > 3 {
			more = ", …"
		}
		fmt.Fprintf(r.out, "%5d  %s%s\n       %v%s\n", len(tests), reason, howTo(reason), list(tests[:min(3, len(tests))]), more)
	}
}

func list(tests []test) string {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

func (r *report) printSlowest() {
	slices.SortFunc(r.times, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintln(r.out, "\nSlowest tests:")
	for _, slow := range r.times[:min(slowestCount, len(r.times))] {
		fmt.Fprintf(r.out, "%6.1f s  %s\n", slow.seconds, slow.test)
	}
}

func (r *report) printFailed() {
	if len(r.failed) == 0 && len(r.said) == 0 {
		return
	}
	fmt.Fprintln(r.out, "\nFailed:")
	for _, f := range r.failed[:min(failedCount, len(r.failed))] {
		fmt.Fprintf(r.out, "  %s\n", f.test)
		r.printShort(f.lines)
	}
	if more := len(r.failed) - failedCount; more > 0 {
		fmt.Fprintf(r.out, "  and %d more\n", more)
	}
	r.printShort(r.said[max(0, len(r.said)-failedCount):])
}

func (r *report) printShort(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(r.out, "  %.*s\n", failedLineSize, strings.TrimRight(line, "\n"))
	}
}
