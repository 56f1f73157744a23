package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/config"
)

// narrow reads a text as a project's file, beside the user's.
func narrow(t testing.TB, user, project string, sources config.Sources) (*config.Effective, error) {
	t.Helper()
	effective := mustLoad(t, user, sources)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.ProjectFile), []byte(project), 0o600); err != nil {
		t.Fatal(err)
	}
	return effective, effective.Narrow(dir)
}

// TestProjectNarrows: a project's file makes everything stricter that it may,
// whatever flags say, and each value says that it is the project's.
func TestProjectNarrows(t *testing.T) {
	t.Parallel()
	got, err := narrow(t, `
disabled: [a]
project: {hidden: ["*.key"]}
approval: {runs: free}
skills:
  slow: {limits: {timeout: 50s}, approval: {runs: ask}}
`, `
disabled: [a, b-*]
strict: true
allowedTools: enforce
sandbox: {backend: off}
limits: {timeout: 20s, memory: 64MiB}
project: {access: read, hidden: [private/], protected: ["*.lock"]}
approval: {mode: ask, runs: deny}
skills:
  other: {limits: {processes: 8}}
`, config.Sources{Flags: []config.Flag{
		{Name: "--sandbox", Key: "sandbox.backend", Values: []string{"unsafe-host"}},
		{Name: "--allowed-tools", Key: "allowedTools", Values: []string{"log"}},
		{Name: "--project-access", Key: "project.access", Values: []string{"write"}},
	}})
	if err != nil || got.ProjectError != nil {
		t.Fatal(err, got.ProjectError)
	}
	want := config.Default()
	want.Disabled, want.Strict, want.Sandbox.Backend = []string{"a", "b-*"}, true, "off"
	want.Limits.Timeout, want.Limits.Memory = 20*time.Second, 64<<20
	want.Project.Access, want.Project.Hidden, want.Project.Protected = "read", []string{"*.key", "private/"}, []string{"*.lock"}
	want.Approval.Mode, want.Approval.Runs = "ask", "deny"
	want.Skills = map[string]config.Skill{
		"slow":  {Limits: config.Limits{Timeout: 20 * time.Second}, Approval: config.Approval{Runs: "deny"}},
		"other": {Limits: config.Limits{Processes: 8}},
	}
	if diff := cmp.Diff(want, got.Config, compareGrants); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{
		"sandbox.backend": "project .skills-mcp.yaml:5", "allowedTools": "project .skills-mcp.yaml:4", "limits.timeout": "project .skills-mcp.yaml:6",
		"disabled[1]": "project .skills-mcp.yaml:2", "skills.slow.limits.timeout": "project .skills-mcp.yaml:6",
		"skills.other.limits.processes": "project .skills-mcp.yaml:10", "limits.processes": "default",
	} {
		if origin := got.Origin(key).String(); origin != want {
			t.Errorf("%s is from %q, want %q", key, origin, want)
		}
	}
	if disabled := got.Origin("disabled[0]").String(); disabled != got.File+":2" {
		t.Errorf("the user's own is from %q", disabled)
	}
}

// TestProjectCannotWiden: whatever would widen, or cannot be understood, is
// refused where it stands, nothing of the file is taken over, and the strictest
// is in force.
func TestProjectCannotWiden(t *testing.T) {
	t.Parallel()
	const user = "limits: {timeout: 30s}\nallowedTools: enforce\nstrict: true\nproject: {access: read, write: [out/**], shares: [/srv/data]}\n" +
		"approval: {mode: ask, runs: ask}\nskills: {a: {limits: {processes: 8}, approval: {runs: ask}}}\n"
	for _, test := range []struct{ name, project, want string }{
		{"more time", "disabled: [b]\nlimits: {timeout: 31s}\n", ".skills-mcp.yaml:2:19: limits.timeout: 31s is more than 30s, which is in force"},
		{"more access", "project: {access: review}\n", ":1:19: project.access: review is more than read"},
		{"less consent", "approval: {runs: free}\n", ":1:18: approval.runs: free is more than ask"},
		{"less consent for one skill", "skills: {a: {approval: {runs: free}}}\n", "skills.a.approval.runs: free is more than ask"},
		{"more for one skill", "skills: {a: {limits: {processes: 9}}}\n", "skills.a.limits.processes: 9 is more than 8"},
		{"more for another skill", "skills: {c: {limits: {timeout: 31s}}}\n", "skills.c.limits.timeout: 31s is more than 30s"},
		{"what is not listed", "allowedTools: log\n", ":1:15: allowedTools: log is more than enforce"},
		{"laxer reading", "strict: false\n", ":1:9: strict: false is more than true"},
		{"another sandbox", "sandbox: {backend: docker}\n", ":1:20: sandbox.backend: docker is more than auto"},
		{"no sandbox", "sandbox: {backend: unsafe-host}\n", "sandbox.backend: unsafe-host is more than auto"},
		{"what programs see", "sandbox: {show: [/home]}\n", ":1:11: sandbox.show: only the user's own configuration can set it"},
		{"an image", "sandbox: {docker: {image: evil}}\n", ":1:20: sandbox.docker.image: only the user's own"},
		{"roots", "roots: [/tmp/evil]\n", ":1:1: roots: only the user's own"},
		{"another project", "project: {dir: /}\n", ":1:11: project.dir: only the user's own"},
		{"shares", "project: {shares: [/etc]}\n", "project.shares: only the user's own"},
		{"what is shown", "project: {shown: [.env]}\n", "project.shown: only the user's own"},
		{"what is written", "project: {write: ['**']}\n", "project.write: only the user's own"},
		{"no audit", "audit: {dir: off}\n", "audit.dir: only the user's own"},
		{"no log", "log: {level: error}\n", "log.level: only the user's own"},
		{"hosts", "skills: {a: {root: ~/s, network: {hosts: [evil.example.com]}}}\n", ":1:14: skills.a.root: only the user's own configuration can set it"},
		{"a host", "skills:\n  a:\n    network: {hosts: [evil.example.com]}\n", ":3:15: skills.a.network.hosts: only the user's own"},
		{"private addresses", "skills: {a: {network: {allowPrivate: [10.0.0.0/8]}}}\n", "skills.a.network.allowPrivate: only the user's own"},
		{"secrets", "skills: {a: {secrets: {KEY: {for: [evil.example.com]}}}}\n", ":1:14: skills.a.secrets: only the user's own"},
		{"packages", "skills: {a: {packages: true}}\n", "skills.a.packages: only the user's own"},
		{"what a skill is shown", "skills: {a: {show: [/etc]}}\n", "skills.a.show: only the user's own"},
		{"a pin that holds less", "skills: {a: {pin: name}}\n", "skills.a.pin: only the user's own"},
		{"an unknown key", "limts: {}\n", `unknown key "limts"; did you mean limits?`},
		{"no YAML", "{\n", "is not YAML"},
		{"several documents", "strict: true\n---\n{}\n", "more than one YAML document"},
		{"a bomb", "a: &a [x, x]\nb: &b [*a, *a]\n", "unknown key"},
		{"too large", "# " + strings.Repeat("x", 64<<10), ".skills-mcp.yaml: it is larger than 64KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := narrow(t, user, test.project, config.Sources{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), os.TempDir()) {
				t.Errorf("the directory is named: %v", err)
			}
			isStrictest(t, got)
			if len(got.Disabled) > 0 || got.Limits.Timeout != 30*time.Second {
				t.Errorf("part of the file was taken over: %+v", got.Config)
			}
		})
	}
}

func isStrictest(t *testing.T, got *config.Effective) {
	t.Helper()
	if got.ProjectError == nil || got.Sandbox.Backend != "off" || got.Project.Access != "off" || got.Project.Shares != nil ||
		got.Project.Write != nil || got.Approval.Mode != "deny" || got.Approval.Runs != "deny" || got.Approval.Network != "deny" || got.Skill("a").Approval.Runs != "deny" {
		t.Errorf("%v: %+v", got.ProjectError, got.Config)
	}
}

// TestNoProjectFile: where there is none, nothing changes.
func TestNoProjectFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "gone"), file} {
		effective := mustLoad(t, "", config.Sources{})
		if err := effective.Narrow(dir); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(config.Default(), effective.Config, compareGrants); diff != "" {
			t.Error(diff)
		}
	}
}

// TestProjectFileIsEmpty: a file of comments says nothing.
func TestProjectFileIsEmpty(t *testing.T) {
	t.Parallel()
	effective, err := narrow(t, "", "# nothing yet\n", config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), effective.Config, compareGrants); diff != "" {
		t.Error(diff)
	}
}
