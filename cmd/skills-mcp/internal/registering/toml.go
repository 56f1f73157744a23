package registering

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlTable is the table that has the servers by their names.
const tomlTable = "mcp_servers"

// tomlFile is Codex's file.
type tomlFile struct{}

func (tomlFile) entries(data []byte) (map[string]Entry, error) {
	var whole map[string]any
	if _, err := toml.Decode(string(data), &whole); err != nil {
		return nil, err
	}
	servers, _ := whole[tomlTable].(map[string]any)
	entries := make(map[string]Entry, len(servers))
	for name, each := range servers {
		server, _ := each.(map[string]any)
		entry := Entry{Env: map[string]string{}}
		entry.Command, _ = server["command"].(string)
		args, _ := server["args"].([]any)
		for _, arg := range args {
			entry.Args = append(entry.Args, fmt.Sprint(arg))
		}
		env, _ := server["env"].(map[string]any)
		for name, value := range env {
			entry.Env[name] = fmt.Sprint(value)
		}
		entries[name] = entry
	}
	return entries, nil
}

func (tomlFile) show(name string, entry Entry) []byte {
	return []byte("[" + tomlTable + "." + name + "]\n" + tomlLines(entry, "\n"))
}

func tomlLines(entry Entry, line string) string {
	args := make([]string, len(entry.Args))
	for i, arg := range entry.Args {
		args[i] = tomlText(arg)
	}
	return "command = " + tomlText(entry.Command) + line + "args = [" + strings.Join(args, ", ") + "]" + line
}

// tomlText writes a basic string, of which control characters are escaped.
func tomlText(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out.WriteRune('\\')
			out.WriteRune(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// put replaces the lines command and args in the table of an entry, or adds a
// table at the end. Whoever calls it compares what the result says.
func (f tomlFile) put(data []byte, name string, entry Entry) ([]byte, error) {
	line := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		line = "\r\n"
	}
	text := string(data)
	begin, end, found := tomlSection(text, name, false)
	if !found {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += line
		}
		if strings.TrimSpace(text) != "" {
			text += line
		}
		return []byte(text + "[" + tomlTable + "." + name + "]" + line + tomlLines(entry, line)), nil
	}
	var kept strings.Builder
	header := true
	for each := range strings.Lines(text[begin:end]) {
		key, _, _ := strings.Cut(each, "=")
		switch key = strings.TrimSpace(key); {
		case header:
			header = false
			if !strings.HasSuffix(each, "\n") {
				each += line
			}
			kept.WriteString(each + tomlLines(entry, line))
		case key == "command" || key == "args":
		default:
			kept.WriteString(each)
		}
	}
	return []byte(text[:begin] + kept.String() + text[end:]), nil
}

// remove removes the table of an entry, and those below it.
func (f tomlFile) remove(data []byte, name string) ([]byte, error) {
	text := string(data)
	for {
		begin, end, found := tomlSection(text, name, true)
		if !found {
			return []byte(text), nil
		}
		before, after := text[:begin], text[end:]
		// One empty line is enough where there were two, and none at the end.
		if first, rest, _ := strings.Cut(after, "\n"); strings.TrimSpace(first) == "" && (before == "" || strings.HasSuffix(before, "\n\n") || strings.HasSuffix(before, "\n\r\n")) {
			after = rest
		}
		if rest := strings.TrimRight(before, "\r\n"); after == "" && rest != "" {
			before = rest + before[len(rest):][:1+strings.Index(before[len(rest):], "\n")]
		}
		text = before + after
	}
}

// tomlSection finds the lines of the table of an entry, or with below one of those
// below it too: from its header to the next one. Comments that stand right before
// the next header are the next one's.
func tomlSection(text, name string, below bool) (begin, end int, found bool) {
	offset := 0
	for line := range strings.Lines(text) {
		path, isHeader := tomlHeader(line)
		switch {
		case !isHeader:
			if found && strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
				end = offset + len(line)
			}
		case found:
			return begin, end, true
		case path == tomlTable+"."+name || below && strings.HasPrefix(path, tomlTable+"."+name+"."):
			begin, end, found = offset, offset+len(line), true
		}
		offset += len(line)
	}
	return begin, end, found
}

// tomlHeader returns the path of a line that is a table's header. A line of a text
// of several lines may look like one; what is made of the file is compared with
// what it was.
func tomlHeader(line string) (path string, isHeader bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") {
		return "", false
	}
	var table map[string]any
	meta, err := toml.Decode(line, &table)
	if err != nil || len(meta.Keys()) == 0 {
		return "", false
	}
	keys := meta.Keys()
	return strings.Join(keys[len(keys)-1], "."), true
}
