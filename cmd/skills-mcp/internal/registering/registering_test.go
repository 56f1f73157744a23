package registering_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/registering"
)

var entry = registering.Entry{Command: "/opt/skills-mcp", Args: []string{"--strict=true", `/home/a "b"/skills`}}

// hostAt returns a host with a home of its own, in whose file there is this text;
// "" means no file.
func hostAt(t *testing.T, name, text string) registering.Host {
	t.Helper()
	home := t.TempDir()
	for _, variable := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(variable, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("APPDATA", filepath.Join(home, "AppData", "Roaming"))
	host, err := registering.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := os.MkdirAll(filepath.Dir(host.File), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(host.File, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRegister(t *testing.T) {
	const ours = `"skills": {
      "command": "/opt/skills-mcp",
      "args": ["--strict=true", "/home/a \"b\"/skills"]
    }`
	for _, c := range []struct{ name, host, old, want, after string }{
		{
			"no file", "cursor", "",
			"{\n  \"mcpServers\": {\n    " + ours + "\n  }\n}\n",
			"{\n  \"mcpServers\": {\n  }\n}\n",
		},
		{
			"a server of another one", "gemini", "{\n  \"a\": 1.50,\n  \"mcpServers\": {\n    \"x\": {\"url\": \"y\"}\n  },\n  \"z\": []\n}",
			"{\n  \"a\": 1.50,\n  \"mcpServers\": {\n    \"x\": {\"url\": \"y\"},\n    " + ours + "\n  },\n  \"z\": []\n}",
			"{\n  \"a\": 1.50,\n  \"mcpServers\": {\n    \"x\": {\"url\": \"y\"}\n  },\n  \"z\": []\n}",
		},
		{
			"comments and commas, tabs and CRLF", "vscode", "// mine\r\n{\r\n\t\"servers\": {\r\n\t\t\"x\": 1, // one\r\n\t\t/* two */\r\n\t},\r\n\t\"inputs\": [],\r\n}\r\n",
			"// mine\r\n{\r\n\t\"servers\": {\r\n\t\t\"x\": 1, // one\r\n\t\t/* two */\r\n\t\t\"skills\": {\r\n\t\t\t\"type\": \"stdio\",\r\n\t\t\t\"command\": \"/opt/skills-mcp\",\r\n\t\t\t\"args\": [\"--strict=true\", \"/home/a \\\"b\\\"/skills\"]\r\n\t\t},\r\n\t},\r\n\t\"inputs\": [],\r\n}\r\n",
			"",
		},
		{
			"an older entry of ours, with an environment", "claude-desktop", `{"mcpServers": {"skills": {"command": "/old/skills-mcp", "args": ["x"], "env": {"A": "b"}}}, "b": 2}`,
			`{"mcpServers": {"skills": {"command": "/opt/skills-mcp", "args": ["--strict=true", "/home/a \"b\"/skills"], "env": {"A": "b"}}}, "b": 2}`,
			`{"mcpServers": {}, "b": 2}`,
		},
		{
			"TOML with another table", "codex", "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"a\" # it\n",
			"# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"a\" # it\n\n[mcp_servers.skills]\ncommand = \"/opt/skills-mcp\"\nargs = [\"--strict=true\", \"/home/a \\\"b\\\"/skills\"]\n",
			"# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"a\" # it\n",
		},
		{
			"TOML with an older entry of ours", "codex", "[mcp_servers.skills]\ncommand = \"/old/skills-mcp\"\nargs = []\nstartup_timeout_sec = 20\n\n[mcp_servers.skills.env]\nA = \"b\"\n\n# about z\n[z]\na = 1\n",
			"[mcp_servers.skills]\ncommand = \"/opt/skills-mcp\"\nargs = [\"--strict=true\", \"/home/a \\\"b\\\"/skills\"]\nstartup_timeout_sec = 20\n\n[mcp_servers.skills.env]\nA = \"b\"\n\n# about z\n[z]\na = 1\n",
			"# about z\n[z]\na = 1\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := hostAt(t, c.host, c.old)
			change, err := host.Register("skills", entry, time.Unix(0, 0))
			if err != nil || !change.Changed {
				t.Fatalf("%+v, %v", change, err)
			}
			if diff := cmp.Diff(c.want, textOf(t, host.File)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.old != "" && textOf(t, change.Backup) != c.old || c.old == "" && change.Backup != "" {
				t.Errorf("the copy %q is another one", change.Backup)
			}
			if info, err := os.Stat(host.File); err != nil || c.old != "" && info.Mode().Perm()&0o007 != 0 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if again, err := host.Register("skills", entry, time.Unix(1, 0)); err != nil || again.Changed {
				t.Errorf("again: %+v, %v", again, err)
			}
			if change, err = host.Unregister("skills", time.Unix(2, 0)); err != nil || !change.Changed {
				t.Fatalf("%+v, %v", change, err)
			}
			if c.after == "" {
				c.after = c.old
			}
			if diff := cmp.Diff(c.after, textOf(t, host.File)); diff != "" {
				t.Errorf("after unregistering (-want +got)\n%s", diff)
			}
			if again, err := host.Unregister("skills", time.Unix(3, 0)); err != nil || again.Changed {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// TestRegisterRefuses: what cannot be changed without changing more stays as it is.
func TestRegisterRefuses(t *testing.T) {
	for _, c := range []struct{ name, host, old, want string }{
		{"another server of that name", "cursor", `{"mcpServers": {"skills": {"command": "/bin/other"}}}`, "choose another name"},
		{"no JSON", "gemini", `{"mcpServers": `, "correct it first"},
		{"a list", "cursor", `[]`, "correct it first"},
		{"servers that are none", "vscode", `{"servers": []}`, "correct it first"},
		{"no TOML", "codex", "[mcp_servers", "correct it first"},
		{"an inline table", "codex", "mcp_servers = {skills = {command = \"/old/skills-mcp\"}}\n", "by hand"},
		{"arguments of several lines", "codex", "[mcp_servers.skills]\ncommand = \"/old/skills-mcp\"\nargs = [\n\"a\",\n]\n", "by hand"},
		{"a text that looks like the table", "codex", "a = \"\"\"\n[mcp_servers.skills]\n\"\"\"\n", "by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := hostAt(t, c.host, c.old)
			change, err := host.Register("skills", entry, time.Now())
			if err == nil || change.Changed || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", change, err)
			}
			if textOf(t, host.File) != c.old {
				t.Error("the file is another one")
			}
			if left, _ := filepath.Glob(host.File + ".*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	host := hostAt(t, "claude-code", "")
	if _, err := host.Register("skills", registering.Entry{Command: "/opt/skills-mcp", Args: []string{"/a/${HOME}"}}, time.Now()); err == nil {
		t.Error("what the host would expand is taken")
	}
}

// TestRegisterKeepsLinks: a file that is a link to where the user keeps it stays one.
func TestRegisterKeepsLinks(t *testing.T) {
	host := hostAt(t, "cursor", "{}")
	kept := filepath.Join(t.TempDir(), "kept.json")
	if err := os.Rename(host.File, kept); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, host.File); err != nil {
		t.Skip(err)
	}
	if _, err := host.Register("skills", entry, time.Now()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(host.File); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(textOf(t, kept), "/opt/skills-mcp") {
		t.Errorf("%v, %v: %s", info.Mode(), err, textOf(t, kept))
	}
}

// TestRegisterByteOrderMark: what editors write before a file stays.
func TestRegisterByteOrderMark(t *testing.T) {
	host := hostAt(t, "vscode", "\ufeff{}\n")
	if _, err := host.Register("skills", entry, time.Now()); err != nil {
		t.Fatal(err)
	}
	if text := textOf(t, host.File); !strings.HasPrefix(text, "\ufeff{") {
		t.Errorf("%q", text)
	}
}

// FuzzRegister: whatever a file holds, it is changed as wanted or not at all, and
// what comes of it can be taken back.
func FuzzRegister(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\"servers\": {\"a\": 1, // b\n},}", "{\"servers\": {\"skills\": {\"command\": \"skills-mcp\", \"args\": 1}, // c\n\"b\": {}}}",
		"{\"servers\":{},\"servers\":{\"b\":2}}", "/* a */ null",
	} {
		f.Add("vscode", []byte(seed))
	}
	for _, seed := range []string{
		"a = 1", "[mcp_servers]\nskills.command = \"skills-mcp\"\n", "[mcp_servers.skills]\r\ncommand = 'skills-mcp'\r\n\r\n[mcp_servers.skills.env]\r\n[[b]]\r\n",
		"a = \"\"\"\n[mcp_servers.skills]\n\"\"\"\n",
	} {
		f.Add("codex", []byte(seed))
	}
	all, err := registering.Hosts()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string, old []byte) {
		i := slices.IndexFunc(all, func(host registering.Host) bool { return host.Name == name })
		if i < 0 {
			t.Skip()
		}
		host := all[i]
		host.File = filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(host.File, old, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := host.Register("skills", entry, time.Unix(0, 0)); err != nil {
			if text := textOf(t, host.File); text != string(old) {
				t.Fatalf("%v, and the file is %q", err, text)
			}
			return
		}
		if _, err := host.Unregister("skills", time.Unix(1, 0)); err != nil {
			t.Fatalf("%v: %q", err, textOf(t, host.File))
		}
	})
}
