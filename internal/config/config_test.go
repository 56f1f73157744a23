package config_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
)

// load reads a text as the user's file, with variables and flags.
func load(t testing.TB, file string, sources config.Sources) (*config.Effective, error) {
	t.Helper()
	sources.UserDir = t.TempDir()
	dir := filepath.Join(sources.UserDir, "skills-mcp")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(sources)
}

func mustLoad(t testing.TB, file string, sources config.Sources) *config.Effective {
	t.Helper()
	effective, err := load(t, file, sources)
	if err != nil {
		t.Fatal(err)
	}
	return effective
}

var compareGrants = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b hosts.Rule) bool { return a == b }),
	cmp.Comparer(func(a, b secrets.Source) bool { return a == b }),
}

// rules returns the hosts that texts name.
func rules(texts ...string) (rules []hosts.Rule) {
	for _, text := range texts {
		rule, err := hosts.Parse(text)
		if err != nil {
			panic(err)
		}
		rules = append(rules, rule)
	}
	return rules
}

func source(text string) secrets.Source {
	source, err := secrets.Parse(text)
	if err != nil {
		panic(err)
	}
	return source
}

// TestValues: a file holds every kind of value.
func TestValues(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, `# A comment.
roots:
  - ./skills
  - path: ~/team
    prefix: acme/team
    pack: true
    entry: PACK.md
    visible: [triage, brand-*]
  - {path: /srv/hidden, visible: false}
disabled: [old-*]
strict: true
poll: 1m30s
sandbox:
  backend: off
  maxRuns: 3
  docker: {runtime: runsc}
limits:
  timeout: 90s
  memory: 512MiB
project:
  shares:
    - ~/data:read
    - {path: /srv/reports, access: write}
  write: ["out/**"]
approval:
  runs: ask
skills:
  csv-profile:
    limits: {memory: 64MiB}
    approval: {runs: deny}
    root: ~/skills
    network: {hosts: [api.example.com], allowPrivate: [10.0.0.0/8, fd00::1], maxBytes: 1MiB, maxRequests: 10}
    secrets:
      API_KEY: {source: "file:~/key", for: [api.example.com], body: true}
      SIGN_KEY: {mode: plain}
    packages: true
    show: [/opt/tool]
    pin: name
    digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"
`, config.Sources{})
	want := config.Default()
	want.Roots = []config.Root{
		{Path: "./skills", Visible: []string{"*"}},
		{Path: "~/team", Prefix: "acme/team", Pack: true, Entry: "PACK.md", Visible: []string{"triage", "brand-*"}},
		{Path: "/srv/hidden", Visible: []string{}},
	}
	want.Disabled = []string{"old-*"}
	want.Strict, want.Poll = true, 90*time.Second
	want.Sandbox.Backend, want.Sandbox.MaxRuns, want.Sandbox.Docker.Runtime = "off", 3, "runsc"
	want.Limits.Timeout, want.Limits.Memory = 90*time.Second, 512<<20
	want.Project.Shares = []config.Share{{Path: "~/data", Access: "read"}, {Path: "/srv/reports", Access: "write"}}
	want.Project.Write = []string{"out/**"}
	want.Approval.Runs = "ask"
	want.Skills = map[string]config.Skill{"csv-profile": {
		Limits: config.Limits{Memory: 64 << 20}, Approval: config.Approval{Runs: "deny"},
		Grants: config.Grants{
			Root: "~/skills",
			Network: config.Network{
				Hosts: rules("api.example.com"), MaxBytes: 1 << 20, MaxRequests: 10,
				AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::1/128")},
			},
			Secrets: map[string]config.Secret{
				"API_KEY": {Source: source("file:~/key"), For: rules("api.example.com"), Body: true}, "SIGN_KEY": {Mode: config.Plain},
			},
			Packages: true, Show: []string{"/opt/tool"}, Pin: config.PinName, Digest: "sha256:" + strings.Repeat("0", 64),
		},
	}}
	if diff := cmp.Diff(want, got.Config, compareGrants); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFaults: what cannot be used is refused where it stands, with what could
// stand there.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"an unknown key", "limits:\n  memry: 1GiB\n", `:2:3: limits.memry: unknown key "memry"; did you mean memory?`},
		{"an unknown key like none", "x: 1\n", `:1:1: x: unknown key "x"; there are roots, disabled,`},
		{"a key in the wrong case", "Limits: {}\n", "did you mean limits?"},
		{"a key twice", "strict: true\npoll: 1s\nstrict: false\n", ":3:1: strict: stands there twice, first on line 1"},
		{"a key twice in a section", "skills:\n  a: {}\n  a: {}\n", ":3:3: skills.a: stands there twice"},
		{"several documents", "strict: true\n---\nstrict: false\n", "more than one YAML document"},
		{"no mapping", "- a\n", ":1:1: is a list, not a mapping"},
		{"no YAML", "limits: [\n", ":2:1: the file is not YAML that can be read"},
		{"a tab", "limits:\n\ttimeout: 1s\n", ":2:"},
		{"no text", "pin: ['a\xff']\n", ":1:9: the file is not UTF-8"},
		{"a control character", "pin: ['a\x1b']\n", ":1:9: the file is not UTF-8, or holds a control character"},
		{"an alias", "pin: &a [x]\ndisabled: *a\n", ":1:6: pin: anchors and aliases are not read"},
		{"an alias alone", "disabled: *a\n", "unknown anchor"},
		{"a tag", "strict: !!bool true\n", ":1:9: strict: tags such as"},
		{"a merge key", "<<: {strict: true}\n", ":1:1: a key is"},
		{"a key that is no text", "1: x\n", ":1:1: a key is a number"},
		{"a list for a text", "sandbox:\n  backend: [local]\n", ":2:12: sandbox.backend: is a list; allowed is auto, local"},
		{"another word", "sandbox: {backend: dokcer}\n", `"dokcer" is none of auto, local, docker, hosted, off, unsafe-host; did you mean docker?`},
		{"a text for a list", "pin: a\n", `:1:6: pin: is the text "a", not a list`},
		{"a number for a name", "pin: [12]\n", ":1:7: pin[0]: is a number; allowed is names of skills; write it in quotes"},
		{"a yes for a boolean", "strict: yes\n", `:1:9: strict: is the text "yes"; allowed is true or false`},
		{"a boolean for a text", "log: {level: true}\n", "log.level: is true or false; allowed is debug"},
		{"nothing", "limits:\n", ":1:8: limits: is empty, not a mapping"},
		{"nothing for a value", "limits:\n  timeout:\n", ":2:11: limits.timeout: is empty; allowed is a duration"},
		{"a duration without a unit", "limits: {timeout: 60}\n", "limits.timeout: is a number; allowed is a duration, 1s to 24h"},
		{"no duration", "limits: {timeout: 1 hour}\n", `"1 hour" is no duration such as 90s`},
		{"a negative duration", "limits: {timeout: -1s}\n", "is no duration"},
		{"too long a duration", "limits: {timeout: 25h}\n", "25h is not from 1s to 24h"},
		{"a duration beyond numbers", "limits: {timeout: 999999999h999999999h}\n", "is no duration"},
		{"no size", "limits: {memory: 512m}\n", `"512m" is no size such as 512KiB, 64MiB or 2GiB`},
		{"too small a size", "limits: {memory: 1KiB}\n", "1KiB is not from 16MiB to 1024TiB"},
		{"a size beyond numbers", "limits: {memory: 999999999999999TiB}\n", "is no size"},
		{"an octal number", "sandbox: {maxRuns: 010}\n", `"010" is no whole number`},
		{"a fraction", "sandbox: {maxRuns: 1.5}\n", "is a number; allowed is 0 to 10000"},
		{"a negative number", "sandbox: {maxRuns: -1}\n", "-1 is negative"},
		{"too large a number", "workspaces: {max: 9999999}\n", "9999999 is not from 1 to 1048576"},
		{"an item twice", "disabled: [a, b, a]\n", `:1:18: disabled: "a" stands there twice`},
		{"a root without a path", "roots:\n  - pack: true\n", ":2:5: roots[0]: lacks path"},
		{"an unknown key of a root", "roots:\n  - {path: x, visble: false}\n", "roots[0].visble: unknown key \"visble\"; did you mean visible?"},
		{"another word for visible", "roots: [{path: x, visible: none}]\n", "not true, false or a list of names"},
		{"no name", "disabled: ['a/b']\n", "is no name of a skill"},
		{"a pattern that leads out", "project: {hidden: [../x]}\n", "it has an empty, . or .. segment"},
		{"a pattern that is left open", "project: {write: ['a[b']}\n", "is left open"},
		{"a pattern that takes back", "project: {hidden: ['!.env']}\n", "there is no ! and no ~"},
		{"a relative directory", "project: {dir: work}\n", `"work" is neither auto, off nor a path that is absolute`},
		{"a relative share", "project: {shares: [data:read]}\n", `"data" is neither absolute nor below the home directory`},
		{"a share without access", "project: {shares: [/srv:off]}\n", "leave the share out"},
		{"more for one skill than for all", "limits: {memory: 64MiB}\nskills:\n  a:\n    limits: {memory: 1GiB}\n", ":4:22: skills.a.limits.memory: 1GiB is more than 64MiB, which limits.memory has for all skills"},
		{"less strict for one skill", "approval: {runs: ask}\nskills:\n  a: {approval: {runs: free}}\n", ":3:24: skills.a.approval.runs: free is more than ask, which approval.runs has for all skills"},
		{"an unknown key of a skill", "skills: {a: {netwrk: x}}\n", "skills.a.netwrk: unknown key \"netwrk\"; did you mean network?"},
		{"a section of a pattern", "skills: {'a*': {}}\n", "is no name of a skill"},
		{"grants without a root", "skills:\n  a:\n    network: {hosts: [a.example.com]}\n", ":2:3: skills.a: lacks root, the directory of the skill"},
		{"a relative root of grants", "skills: {a: {root: skills}}\n", `"skills" is neither absolute nor below the home directory`},
		{"a secret for no host", "skills: {a: {root: ~/s, secrets: {KEY: {}}}}\n", "skills.a.secrets.KEY: lacks for, the hosts"},
		{"a secret in no variable", "skills: {a: {root: ~/s, secrets: {A-KEY: {for: [a.example.com]}}}}\n", `"A-KEY" is no name of a variable`},
		{"a secret in a variable of the loader", "skills: {a: {secrets: {LD_PRELOAD: {}}}}\n", "LD_PRELOAD\" is a variable that programs start by"},
		{"a secret in a variable of the sandbox", "skills: {a: {secrets: {path: {}}}}\n", "path\" is a variable that programs start by"},
		{"another mode of a secret", "skills: {a: {secrets: {KEY: {mode: open}}}}\n", `skills.a.secrets.KEY.mode: "open" is none of plain, masked`},
		{"no network", "skills: {a: {network: {allowPrivate: [10.0.0.0/33]}}}\n", `"10.0.0.0/33" is no network such as 10.1.0.0/16`},
		{"a network with too many bits", "skills: {a: {network: {allowPrivate: [10.0.0.1/8]}}}\n", `"10.0.0.1/8" has bits beyond its length; write 10.0.0.0/8`},
		{"a digest that is none", "skills: {a: {digest: sha256:x}}\n", "skills.a.digest: is no digest"},
		{"an address", "skills: {a: {network: {hosts: ['10.0.0.1']}}}\n", `skills.a.network.hosts[0]: host "10.0.0.1" is an address`},
		{"an address in another form", "skills: {a: {network: {hosts: ['0x7f.1']}}}\n", `host "0x7f.1" `},
		{"a host with a path", "skills: {a: {network: {hosts: [a.example.com/x]}}}\n", `host "a.example.com/x" `},
		{"a host twice", "skills: {a: {network: {hosts: [a.example.com, A.example.com]}}}\n", "stands there twice"},
		{"no source", "skills: {a: {secrets: {KEY: {source: s3cret-value}}}}\n", "skills.a.secrets.KEY.source: it is no source of a secret: it is one of env:NAME"},
		{"packages that are listed", "skills: {a: {packages: [x]}}\n", "skills.a.packages: is a list; allowed is true or false"},
		{"no requests", "skills: {a: {network: {maxRequests: 0}}}\n", "0 is not from 1 to 1000000"},
		{"two faults", "strict: 1\npoll: x\n", "poll: \"x\" is no duration"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, test.file, config.Sources{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "config.yaml:") {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestPrecedence: flags win over variables, these over the file, and that over
// the defaults; each value says where it comes from.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, "log: {level: warn, format: json}\npin: [a]\nlimits:\n  processes: 32\n", config.Sources{
		Environ: []string{"SKILLS_MCP_LOG_LEVEL=error", "SKILLS_MCP_LOG_FORMAT=text", "SKILLS_MCP_PIN=b, c,", "SKILLS_MCP_LIMITS_TIMEOUT=5s", "SKILLS_MCP_STRICT="},
		Flags:   []config.Flag{{Name: "--log-level", Key: "log.level", Values: []string{"debug"}}},
	})
	if got.Log.Level != "debug" || got.Log.Format != "text" || got.Limits.Timeout != 5*time.Second || got.Limits.Processes != 32 || got.Strict {
		t.Errorf("%+v", got.Config)
	}
	if diff := cmp.Diff([]string{"b", "c"}, got.Pin); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"log.level": "flag --log-level", "log.format": "environment SKILLS_MCP_LOG_FORMAT", "pin": "environment SKILLS_MCP_PIN",
		"pin[0]": "environment SKILLS_MCP_PIN", "limits.processes": got.File + ":4", "limits.memory": "default",
	} {
		if origin := got.Origin(key).String(); origin != want {
			t.Errorf("%s is from %q, want %q", key, origin, want)
		}
	}
}

func TestOverridesThatAreRefused(t *testing.T) {
	t.Parallel()
	_, err := load(t, "", config.Sources{Environ: []string{"SKILLS_MCP_SANDBOX=jar"}})
	if err == nil || !strings.HasPrefix(err.Error(), `SKILLS_MCP_SANDBOX: "jar" is none of`) {
		t.Error(err)
	}
	_, err = load(t, "", config.Sources{Flags: []config.Flag{{Name: "--sandbox", Key: "sandbox.backend", Values: []string{"jar"}}}})
	if err == nil || !strings.HasPrefix(err.Error(), `--sandbox "jar" is none of`) {
		t.Error(err)
	}
	effective := mustLoad(t, "", config.Sources{Environ: []string{"SKILLS_MCP_SANDBX=off", "SKILLS_MCP_SERVICE_HOST=10.0.0.1", "SKILLS_MCP_TEST=all"}})
	if len(effective.Warnings) != 2 || !strings.Contains(effective.Warnings[0], "SKILLS_MCP_SANDBX is not known; did you mean SKILLS_MCP_SANDBOX?") {
		t.Errorf("warnings %q", effective.Warnings)
	}
}

// TestFiles: one that is named has to be there, and the user's own need not.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	named := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(named, []byte("strict: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, []byte("# "+strings.Repeat("x", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		sources config.Sources
		strict  bool
		want    string
	}{
		{"none", config.Sources{UserDir: dir}, false, ""},
		{"no directory", config.Sources{}, false, ""},
		{"named", config.Sources{File: named, UserDir: dir}, true, ""},
		{"by a variable", config.Sources{UserDir: dir, Environ: []string{"SKILLS_MCP_CONFIG=" + named}}, true, ""},
		{"by both", config.Sources{File: os.DevNull, Environ: []string{"SKILLS_MCP_CONFIG=" + named}}, false, ""},
		{"missing", config.Sources{File: filepath.Join(dir, "none.yaml")}, false, "cannot be read"},
		{"a directory", config.Sources{File: dir}, false, "cannot be read"},
		{"too large", config.Sources{File: large}, false, "larger than 1MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			effective, err := config.Load(test.sources)
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
			case err != nil:
				t.Error(err)
			case effective.Strict != test.strict:
				t.Errorf("strict is %t", effective.Strict)
			}
		})
	}
}

// TestSkill: what is said of one skill holds as far as it is stricter.
func TestSkill(t *testing.T) {
	t.Parallel()
	effective := mustLoad(t, `
limits: {timeout: 2m, maxTimeout: 5m}
approval: {runs: ask}
skills:
  slow: {limits: {timeout: 100s, maxTimeout: 90s}}
  odd: {approval: {runs: deny}}
`, config.Sources{Environ: []string{"SKILLS_MCP_LIMITS_TIMEOUT=30s"}})
	if slow := effective.Skill("slow"); slow.Limits.Timeout != 30*time.Second || slow.Limits.MaxTimeout != 90*time.Second || slow.Limits.Memory != 2<<30 || slow.Approval.Runs != "ask" {
		t.Errorf("%+v", slow)
	}
	if odd := effective.Skill("odd"); odd.Approval != (config.Approval{Mode: "host", Runs: "deny", Reads: "free", Network: "deny"}) {
		t.Errorf("%+v", odd)
	}
	if other := effective.Skill("other"); other.Approval.Runs != "ask" || other.Limits.MaxTimeout != 5*time.Minute {
		t.Errorf("%+v", other)
	}
}

func TestHides(t *testing.T) {
	t.Parallel()
	effective := mustLoad(t, "disabled: [old-*, \"cafe\\u0301\"]\nroots:\n  - x\n  - {path: y, visible: [triage, brand-*]}\n  - {path: z, visible: false}\n", config.Sources{})
	for _, test := range []struct {
		root int
		name string
		want bool
	}{
		{0, "new", false}, {0, "old-one", true}, {0, "older", false}, {0, "caf\u00e9", true}, {0, "\uff4f\uff4c\uff44-one", true},
		{1, "triage", false}, {1, "brand-guide", false}, {1, "other", true}, {2, "triage", true}, {7, "new", false},
	} {
		if got := effective.Hides(test.root, test.name); got != test.want {
			t.Errorf("%q of root %d is hidden: %t", test.name, test.root, got)
		}
	}
}

// TestPrintedIsRead: what is printed says the same as what was read.
func TestPrintedIsRead(t *testing.T) {
	t.Parallel()
	first := mustLoad(t, `
roots: ["pack:acme=~/x", {path: "a b", visible: [x]}, {path: z, visible: false, optional: true}]
disabled: ["12", "on", "a:b"]
pin: ["x#y", "null"]
sandbox: {show: ["/opt/a # b", "/\t"], docker: {image: "x: y", runtime: "yes"}}
project: {hidden: ["*.key", "\u2028x", "- a", "{b}"], shares: [~/d:read]}
skills: {a: {}, "7": {limits: {memory: 16MiB}}, b: {approval: {mode: deny}}}
`, config.Sources{Flags: []config.Flag{{Name: "--pin", Key: "pin", Values: []string{"p", "q"}}}})
	second := mustLoad(t, string(first.YAML()), config.Sources{})
	if diff := cmp.Diff(first.Config, second.Config, cmpopts.EquateEmpty(), compareGrants); diff != "" {
		t.Errorf("(-first +second):\n%s\n%s", diff, first.YAML())
	}
}

func TestErrorNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := load(t, strings.Repeat("x", 3)+": 1\nstrict: 2\nsandbox: {backend: y}\n", config.Sources{})
	var refused *config.Error
	if !errors.As(err, &refused) || len(refused.Faults) != 3 || refused.Faults[2].Origin.Line != 3 {
		t.Errorf("%v", err)
	}
}
