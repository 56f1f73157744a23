package toolsfile

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/jsonschema"
)

// maxTimeoutMs is a day.
const maxTimeoutMs = 24 * 60 * 60 * 1000

// Tool is one executable tool of a tools.json.
type Tool struct {
	// Name is unique in the file: 1 to 64 of [A-Za-z0-9_-].
	Name string
	// Description says what it does and when to use it. It may be empty.
	Description string
	// InputSchema is a JSON Schema of type object, verbatim; it is
	// {"type":"object"} where the file has none.
	InputSchema []byte
	// Argv is the program and its arguments; the first element is a script's
	// path relative to the skill, or a program's name. For the others see
	// [Tool.Command].
	Argv []string
	// TimeoutMs bounds one run, in milliseconds, at most a day. Zero means
	// the server's default.
	TimeoutMs int
	// Cwd is where the program starts: "workspace", "skill", or empty for where
	// programs of the skill start.
	Cwd string
}

// isName reports whether a name is 1 to 64 of A-Z, a-z, 0-9, _ and -.
func isName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

// parser decodes one tool.
type parser struct {
	*problem.Report
	at   problem.Position
	tool Tool
	keys map[string]json.RawMessage
}

// parse returns the tool, and whether it can be used. Field names are matched
// exactly: two spellings of one are two keys.
func (p *parser) parse(raw json.RawMessage) (Tool, bool) {
	if err := json.Unmarshal(raw, &p.keys); err != nil || p.keys == nil {
		p.Add("tools-syntax", p.at, "a tool is not a JSON object")
		return Tool{}, false
	}
	before := p.Errors
	p.name()
	p.description()
	p.schema()
	p.argv()
	p.placeholders()
	p.timeout()
	p.cwd()
	for _, key := range slices.Sorted(maps.Keys(p.keys)) {
		p.Add("tools-key", p.at, "the key %q of tool %q is not known", problem.Clip(key), p.tool.Name)
	}
	return p.tool, p.Errors == before
}

// take removes a key, under the first of its spellings that is there.
func (p *parser) take(spellings ...string) (json.RawMessage, bool) {
	for _, key := range spellings {
		if value, found := p.keys[key]; found {
			delete(p.keys, key)
			return value, string(value) != "null"
		}
	}
	return nil, false
}

func (p *parser) name() {
	raw, _ := p.take("name")
	var name string
	if json.Unmarshal(raw, &name) != nil || !isName(name) {
		p.Add("tools-name", p.at, "a tool's name is missing, or is not 1 to 64 of A-Z, a-z, 0-9, _ and -")
		return
	}
	p.tool.Name = name
}

func (p *parser) description() {
	raw, found := p.take("description")
	var text string
	if !found || json.Unmarshal(raw, &text) != nil || strings.TrimSpace(text) == "" {
		p.Add("tools-description", p.at, "the tool %q has no description", p.tool.Name)
		return
	}
	p.tool.Description = strings.TrimSpace(text)
}

func (p *parser) schema() {
	raw, found := p.take("inputSchema", "input_schema")
	if !found {
		p.tool.InputSchema = []byte(`{"type":"object"}`)
		return
	}
	var schema map[string]json.RawMessage
	var kind string
	if json.Unmarshal(raw, &schema) != nil || json.Unmarshal(schema["type"], &kind) != nil || kind != "object" {
		p.Add("tools-schema", p.at, "the input schema of tool %q is not a JSON Schema of type object", p.tool.Name)
		return
	}
	if _, err := jsonschema.Compile(raw); err != nil {
		p.Add("tools-schema", p.at, "the input schema of tool %q is not valid: %s", p.tool.Name, problem.Clip(err.Error()))
		return
	}
	p.tool.InputSchema = raw
}

func (p *parser) argv() {
	argv, ok := p.run()
	switch {
	case !ok:
		p.Add("tools-argv", p.at, "the tool %q has no run, or it is not a list of strings", p.tool.Name)
	case len(argv) == 0 || strings.TrimSpace(argv[0]) == "":
		p.Add("tools-argv", p.at, "the run of tool %q names no program", p.tool.Name)
	case !plainProgram(argv[0]):
		p.Add("tools-argv", p.at, "the tool %q runs %q, which is neither a program's name nor a path inside the skill", p.tool.Name, problem.Clip(argv[0]))
	case slices.ContainsFunc(argv, func(arg string) bool { return strings.ContainsRune(arg, 0) }):
		p.Add("tools-argv", p.at, "the run of tool %q holds a NUL", p.tool.Name)
	default:
		p.tool.Argv = argv
		if script := workspaceScript(argv); script != "" {
			p.Add("tools-script", p.at, "the tool %q starts in the workspace, where %q is no file of the skill", p.tool.Name, problem.Clip(script))
		}
	}
}

// run returns the program with its arguments, which some authors split into
// command and args.
func (p *parser) run() (argv []string, ok bool) {
	if raw, found := p.take("run", "argv"); found {
		return argv, json.Unmarshal(raw, &argv) == nil && !slices.Contains(nullable(raw), nil)
	}
	var program string
	raw, found := p.take("command")
	if !found || json.Unmarshal(raw, &program) != nil {
		return nil, false
	}
	if raw, found = p.take("args"); found && (json.Unmarshal(raw, &argv) != nil || slices.Contains(nullable(raw), nil)) {
		return nil, false
	}
	return slices.Insert(argv, 0, program), true
}

// interpreters are programs that run the file that an argument names, and
// scriptExtensions is how such names end.
var (
	interpreters     = []string{"python", "pypy", "node", "nodejs", "tsx", "bash", "sh", "zsh", "ruby", "perl", "php", "lua", "Rscript"}
	scriptExtensions = []string{".py", ".sh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".R"}
)

// isScriptName reports whether a text looks like a script's path: of letters,
// digits and ._-/ alone, in a directory or with a script's extension.
func isScriptName(text string) bool {
	odd := strings.ContainsFunc(text, func(c rune) bool { return !isName(string(c)) && c != '.' && c != '/' })
	dir, name := path.Split(text)
	return !odd && name != "" && (dir != "" || slices.Contains(scriptExtensions, path.Ext(name)))
}

// withoutVersion returns a program's name without the version that it may end in.
func withoutVersion(program string) string { return strings.TrimRight(program, "0123456789.") }

// workspaceScript returns the script that a tool would run by a relative path
// after its interpreter, or nothing. Whoever ran before may have written it.
func workspaceScript(argv []string) string {
	if !slices.Contains(interpreters, withoutVersion(argv[0])) {
		return ""
	}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") {
			if plainProgram(arg) && isScriptName(arg) {
				return arg
			}
			return ""
		}
	}
	return ""
}

// nullable decodes a list of strings so that a null in it, which
// encoding/json takes for an empty string, can be seen.
func nullable(raw json.RawMessage) []*string {
	var items []*string
	_ = json.Unmarshal(raw, &items) // the caller decoded it before
	return items
}

// plainProgram reports whether a program is a bare name or a relative path
// that stays inside: not absolute on any system, no .., no placeholder.
func plainProgram(program string) bool {
	if strings.ContainsAny(program, "\\:{}") || path.IsAbs(program) {
		return false
	}
	clean := path.Clean(program)
	return clean != "." && clean != ".." && !slices.Contains(strings.Split(program, "/"), "..")
}

// placeholders warns of those that no input can fill, and of those that any
// text could fill: see [Tool.Bounds].
func (p *parser) placeholders() {
	known := p.tool.properties()
	for i, arg := range p.tool.Argv {
		for _, property := range properties(arg) {
			switch _, found := known[property]; {
			case !found && (isPlaceholder(arg) || isName(property)):
				p.Add("tools-placeholder", p.at, "the tool %q has {%s} in run, and no such property", p.tool.Name, problem.Clip(property))
			case found && !isPlaceholder(arg) && p.tool.isCode(i):
				p.Add("tools-placeholder", p.at, "the tool %q has {%s} in a program's text, where it is left as it is: a value could add to the program", p.tool.Name, problem.Clip(property))
			case found && strings.HasPrefix(arg, "{") && !p.tool.Bounds(property):
				p.Add("tools-option", p.at, "the tool %q has {%s} in run, which may be any text; values that begin with - are refused, since the program could take them for options", p.tool.Name, problem.Clip(property))
			}
		}
	}
}

func (p *parser) timeout() {
	raw, found := p.take("timeoutMs", "timeout_ms")
	if !found {
		return
	}
	if json.Unmarshal(raw, &p.tool.TimeoutMs) != nil || p.tool.TimeoutMs < 1 || p.tool.TimeoutMs > maxTimeoutMs {
		p.Add("tools-timeout", p.at, "the timeout of tool %q is not 1 to %d milliseconds", p.tool.Name, maxTimeoutMs)
	}
}

func (p *parser) cwd() {
	raw, found := p.take("cwd")
	if found && (json.Unmarshal(raw, &p.tool.Cwd) != nil || p.tool.Cwd != "workspace" && p.tool.Cwd != "skill") {
		p.Add("tools-cwd", p.at, "the cwd of tool %q is neither workspace nor skill", p.tool.Name)
	}
}
