package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// inspection is one run of the inspector's command line.
type inspection struct {
	method    string
	flag      string // what makes it more than a look
	transport string // stdio or HTTP
	era       string // legacy or modern: with an initialize handshake or without
	root      func(t *testing.T) string
	variant   string
}

// way is how the inspector talks to the server.
func (i inspection) way() string { return i.transport + ", " + i.era }

// ways are all there are.
var ways = []string{"stdio, legacy", "stdio, modern", "HTTP, legacy", "HTTP, modern"}

// inspections are all runs: both methods in all ways, and two more roots over
// HTTP.
func inspections() []inspection {
	var all []inspection
	for _, way := range ways {
		transport, era, _ := strings.Cut(way, ", ")
		all = append(all,
			inspection{method: "skills/list", flag: "--verify", transport: transport, era: era},
			inspection{method: "tools/list", flag: "--strict", transport: transport, era: era})
		if transport == "HTTP" {
			all = append(all,
				inspection{method: "skills/list", flag: "--verify", transport: transport, era: era, root: manySkills, variant: "several pages"},
				inspection{method: "skills/list", flag: "--verify", transport: transport, era: era, root: faultySkills, variant: "faulty skills"})
		}
	}
	return all
}

// command is what a person would type, without the server.
func (i inspection) command() string {
	command := fmt.Sprintf("`--method %s %s`", i.method, i.flag)
	if i.variant != "" {
		command += ", " + i.variant
	}
	return command
}

func (i inspection) title() string {
	return strings.ReplaceAll(i.command(), "`", "") + " over " + i.way()
}

// run fails the test unless the inspector ends with exit code 0.
func (i inspection) run(t *testing.T, node string) {
	t.Helper()
	root := samples
	if i.root != nil {
		root = i.root(t)
	}
	args := []string{inspectorScript, "--cli", "--format", "json", "--method", i.method, i.flag, "--protocol-era", i.era,
		"--connect-timeout", fmt.Sprint(program.Patience.Milliseconds())}
	if i.transport == "HTTP" {
		_, url := program.Serve(t, program.Home(t), root)
		args = append(args, "--transport", "http", "--server-url", url+"/mcp")
	} else {
		args = append(args, "--", program.Binary(t), "--log-level", "warn", root)
	}
	inspector := startTool(t, node, args...)
	if code := inspector.exitCode(t); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &inspector.stdout, inspector.Stderr)
	}
	if i.method == "skills/list" {
		i.checkReports(t, inspector.stdout.String())
		return
	}
	if !strings.Contains(inspector.stdout.String(), `"activate"`) {
		t.Errorf("no tools are listed: %s", &inspector.stdout)
	}
	// Strictness warns there, and the exit code does not tell.
	if warnings := inspector.Stderr.String(); warnings != "" {
		t.Errorf("the inspector says %s", warnings)
	}
}

// checkReports reads the inspector's report of each skill, so that an exit
// code of 0 for nothing is noticed.
func (i inspection) checkReports(t *testing.T, reports string) {
	t.Helper()
	skills := 0
	lines := bufio.NewScanner(strings.NewReader(reports))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var report struct {
			URI   string `json:"uri"`
			Files []struct {
				URI    string `json:"uri"`
				Status string `json:"status"`
			} `json:"files"`
		}
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			t.Fatalf("%v in %.200s", err, lines.Bytes())
		}
		if skills++; len(report.Files) == 0 {
			t.Errorf("no file of %s was read", report.URI)
		}
		for _, file := range report.Files {
			if file.Status != "verified" {
				t.Errorf("%s is %s", file.URI, file.Status)
			}
		}
	}
	if skills < 2 {
		t.Errorf("%d skills were verified: %s", skills, reports)
	}
}
