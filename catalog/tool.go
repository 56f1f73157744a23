package catalog

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
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
	// {"type":"object"} where the file has none. Only its type is checked.
	InputSchema []byte
	// Argv is the program and its arguments; the first element is a script's
	// path relative to the skill, or a program's name. An element that is
	// exactly "{key}" stands for that property of the input.
	Argv []string
	// TimeoutMs bounds one run, in milliseconds, at most a day. Zero means
	// the server's default.
	TimeoutMs int
}

var (
	toolName    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	placeholder = regexp.MustCompile(`^\{([^{}]+)\}$`)
)

// toolParser decodes one tool.
type toolParser struct {
	*problem.Report
	at   problem.Position
	tool Tool
	keys map[string]json.RawMessage
}

// parse gives the tool, and whether it can be used. Field names are matched
// exactly: two spellings of one are two keys.
func (p *toolParser) parse(raw json.RawMessage) (Tool, bool) {
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
	for _, key := range sortedKeys(p.keys) {
		p.Add("tools-key", p.at, "the key %q of tool %q is not known", problem.Clip(key), p.tool.Name)
	}
	return p.tool, p.Errors == before
}

// take removes a key, under the first of its spellings that is there.
func (p *toolParser) take(spellings ...string) (json.RawMessage, bool) {
	for _, key := range spellings {
		if value, found := p.keys[key]; found {
			delete(p.keys, key)
			return value, string(value) != "null"
		}
	}
	return nil, false
}

func (p *toolParser) name() {
	raw, _ := p.take("name")
	var name string
	if json.Unmarshal(raw, &name) != nil || !toolName.MatchString(name) {
		p.Add("tools-name", p.at, "a tool's name is missing, or is not 1 to 64 of A-Z, a-z, 0-9, _ and -")
		return
	}
	p.tool.Name = name
}

func (p *toolParser) description() {
	raw, found := p.take("description")
	var text string
	if !found || json.Unmarshal(raw, &text) != nil || strings.TrimSpace(text) == "" {
		p.Add("tools-description", p.at, "the tool %q has no description", p.tool.Name)
		return
	}
	p.tool.Description = strings.TrimSpace(text)
}

func (p *toolParser) schema() {
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
	p.tool.InputSchema = raw
}

func (p *toolParser) argv() {
	raw, found := p.take("run", "argv")
	var argv []string
	switch {
	case !found || json.Unmarshal(raw, &argv) != nil || slices.Contains(nullable(raw), nil):
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

// scriptInterpreter are programs that run the file that an argument names, and
// scriptName is how such names look.
var (
	scriptInterpreter = regexp.MustCompile(`^(python|pypy|node|nodejs|tsx|bash|sh|zsh|ruby|perl|php|lua|Rscript)[0-9.]*$`)
	scriptName        = regexp.MustCompile(`^[\w./-]*(/[\w.-]+|\.(py|sh|js|mjs|cjs|ts|rb|pl|php|lua|R))$`)
)

// workspaceScript returns the script that a tool would run by a relative path
// after its interpreter, or nothing. Whoever ran before may have written it.
func workspaceScript(argv []string) string {
	if !scriptInterpreter.MatchString(argv[0]) {
		return ""
	}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") {
			if plainProgram(arg) && scriptName.MatchString(arg) {
				return arg
			}
			return ""
		}
	}
	return ""
}

// nullable decodes a list of strings so that a null in it, which
// encoding/json takes for an empty string, can be told.
func nullable(raw json.RawMessage) []*string {
	var items []*string
	_ = json.Unmarshal(raw, &items) // the caller decoded it before
	return items
}

// plainProgram tells whether a program is a bare name or a relative path
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
func (p *toolParser) placeholders() {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if p.tool.InputSchema == nil || json.Unmarshal(p.tool.InputSchema, &schema) != nil {
		return
	}
	for _, arg := range p.tool.Argv {
		if found := placeholder.FindStringSubmatch(arg); found != nil {
			if _, known := schema.Properties[found[1]]; !known {
				p.Add("tools-placeholder", p.at, "the tool %q has %s in run, and no such property", p.tool.Name, problem.Clip(arg))
			} else if !p.tool.Bounds(found[1]) {
				p.Add("tools-option", p.at, "the tool %q has %s in run, which may be any text; values that begin with - are refused, since the program could take them for options", p.tool.Name, problem.Clip(arg))
			}
		}
	}
}

func (p *toolParser) timeout() {
	raw, found := p.take("timeoutMs", "timeout_ms")
	if !found {
		return
	}
	if json.Unmarshal(raw, &p.tool.TimeoutMs) != nil || p.tool.TimeoutMs < 1 || p.tool.TimeoutMs > maxTimeoutMs {
		p.Add("tools-timeout", p.at, "the timeout of tool %q is not 1 to %d milliseconds", p.tool.Name, maxTimeoutMs)
	}
}
