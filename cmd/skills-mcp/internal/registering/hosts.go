// Package registering knows where MCP hosts keep which servers they start, and
// puts this server there, or takes it out.
//
// The files are the user's, and hosts write them too. What is not about the entry
// stays as it is, byte for byte; what cannot be changed so is refused. A file is
// replaced as a whole, and a copy of what it held is kept beside it.
package registering

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Host is a program that starts MCP servers.
type Host struct {
	// Name is what --host calls it, and Title what people do.
	Name, Title string
	// File is the absolute path of the user's own file that has the servers.
	File string
	// Again says what makes the host read the file again.
	Again string

	format  format
	expands bool // variables in arguments
}

// format is how a host has its servers in a file.
type format interface {
	// entries returns all servers.
	entries(data []byte) (map[string]Entry, error)
	// put returns the data with an entry, which takes the place of what of an older
	// one says what is started.
	put(data []byte, name string, entry Entry) ([]byte, error)
	// remove returns the data without an entry.
	remove(data []byte, name string) ([]byte, error)
	// show returns an entry as a file has it that has no other.
	show(name string, entry Entry) []byte
}

// Entry is what a host starts.
type Entry struct {
	// Command is empty for a server that is not started but reached.
	Command string
	Args    []string
	Env     map[string]string
}

// Ours reports whether it starts this program.
func (e Entry) Ours() bool {
	base := filepath.Base(strings.ReplaceAll(e.Command, `\`, "/"))
	return strings.TrimSuffix(base, ".exe") == "skills-mcp"
}

// Hosts returns the hosts that are known, with their files on this machine.
func Hosts() ([]Host, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("hosts keep their files in your home directory, which is not known: %w", err)
	}
	configs := appConfigs(home)
	claude := filepath.Join(cmp.Or(os.Getenv("CLAUDE_CONFIG_DIR"), home), ".claude.json")
	codex := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	servers := jsonFile{key: "mcpServers"}
	return []Host{
		{"claude-code", "Claude Code", claude, "Start a new session", jsonFile{key: "mcpServers", kind: true}, true},
		{"claude-desktop", "Claude Desktop", filepath.Join(configs, "Claude", "claude_desktop_config.json"), "Restart Claude Desktop", servers, false},
		{"vscode", "VS Code", filepath.Join(configs, "Code", "User", "mcp.json"), "VS Code notices by itself, and asks before it starts the server", jsonFile{key: "servers", kind: true}, true},
		{"cursor", "Cursor", filepath.Join(home, ".cursor", "mcp.json"), "Cursor notices by itself; switch the server on in its settings", servers, true},
		{"codex", "Codex", filepath.Join(codex, "config.toml"), "Start a new session", tomlFile{}, false},
		{"gemini", "Gemini CLI", filepath.Join(home, ".gemini", "settings.json"), "Start a new session", servers, true},
	}, nil
}

// appConfigs is where programs with windows keep what a user configures. Those of
// macOS do not follow XDG_CONFIG_HOME.
func appConfigs(home string) string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	case "windows":
		return cmp.Or(os.Getenv("APPDATA"), filepath.Join(home, "AppData", "Roaming"))
	}
	return cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
}

// HostNames returns the names of all hosts.
func HostNames() []string {
	return []string{"claude-code", "claude-desktop", "vscode", "cursor", "codex", "gemini"}
}

// Find returns the host of a name.
func Find(name string) (Host, error) {
	all, err := Hosts()
	if err != nil {
		return Host{}, err
	}
	var here []string
	for _, host := range all {
		if host.Name == name {
			return host, nil
		}
		if host.Present() {
			here = append(here, host.Name)
		}
	}
	found := "; none of them seems to be on this machine"
	if len(here) > 0 {
		found = "; on this machine there seems to be " + strings.Join(here, ", ")
	}
	names := HostNames()
	last := len(names) - 1
	return Host{}, fmt.Errorf("--host has to be %s or %s%s", strings.Join(names[:last], ", "), names[last], found)
}

// Present reports whether the host seems to be on this machine: its file is there,
// or the directory that it alone makes for it.
func (h Host) Present() bool {
	if _, err := os.Stat(h.File); err == nil {
		return true
	}
	dir := filepath.Dir(h.File)
	if home, err := os.UserHomeDir(); err != nil || dir == home {
		return false
	}
	_, err := os.Stat(dir)
	return err == nil
}
