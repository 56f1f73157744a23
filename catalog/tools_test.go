package catalog_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		`{"type":"string"}`: false, `{}`: false, `true`: false, `{"type":["string","null"]}`: false, `{"type":[]}`: false, `{"format":"date"}`: false, `{"$ref":"#/x"}`: false,
		`{"enum":["a"]}`: true, `{"enum":[]}`: true, `{"const":"-x"}`: true, `{"type":"number"}`: true, `{"type":"integer"}`: true, `{"type":"boolean"}`: true,
		`{"type":["number","null"]}`: true, `{"type":"array","items":{"type":"string"}}`: true, `{"type":"odd"}`: false,
		`{"pattern":"^[a-z]+$"}`: true, `{"pattern":"^(a|b)"}`: true, `{"pattern":"^a|^b"}`: false, `{"Enum":["a"]}`: false, `{"pattern":"\\A[a-z]"}`: true,
		`{"pattern":"[a-z]+$"}`: false, `{"pattern":"^a|b"}`: false, `{"pattern":"(?m)^a"}`: false, `{"pattern":"("}`: false, `{"pattern":""}`: false, `{"pattern":"a^"}`: false,
	} {
		tool := catalog.Tool{InputSchema: []byte(`{"type":"object","properties":{"x":` + schema + `}}`)}
		if got := tool.Bounds("x"); got != want {
			t.Errorf("%s: %v, want %v", schema, got, want)
		}
		if tool.Bounds("y") {
			t.Errorf("%s bounds a property that is not there", schema)
		}
	}
	for _, schema := range []string{"", "null", "{}", `{"properties":[]}`} {
		if (catalog.Tool{InputSchema: []byte(schema)}).Bounds("x") {
			t.Errorf("%q bounds a property", schema)
		}
	}
}

func TestParseTools(t *testing.T) {
	t.Parallel()
	want := []catalog.Tool{
		{Name: "convert", Description: "Converts.", InputSchema: []byte(`{"type": "object", "properties": {"in": {"enum": ["a"]}}}`),
			Argv: []string{"scripts/convert.py", "--in", "{in}"}, TimeoutMs: 5000},
		{Name: "list_all", Description: "Lists.", InputSchema: []byte(`{"type":"object"}`), Argv: []string{"ls"}},
	}
	tools := `[{"name": "convert", "description": " Converts. ",
		"inputSchema": {"type": "object", "properties": {"in": {"enum": ["a"]}}},
		"run": ["scripts/convert.py", "--in", "{in}"], "timeoutMs": 5000},
		{"name": "list_all", "description": "Lists.", "input_schema": null, "argv": ["ls"]}]`
	for _, text := range []string{tools, `{"tools": ` + tools + `}`, "\ufeff\r\n" + tools + "\n"} {
		got, problems := catalog.ParseTools("tools.json", []byte(text))
		if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s\nproblems: %v", diff, problems)
		}
	}
}

func TestToolRules(t *testing.T) {
	t.Parallel()
	const good = `{"name":"ok","description":"x","run":["a"]}`
	tool := func(rest string) string { return `{"description":"x",` + rest + `}` }
	for text, want := range map[string]struct {
		rule string
		line int
		kept int // of the tools
	}{
		"":                                       {"tools-syntax", 1, 0},
		"nonsense":                               {"tools-syntax", 1, 0},
		"[" + good:                               {"tools-syntax", 1, 0},
		"[" + good + "] x":                       {"tools-syntax", 1, 0},
		"null":                                   {"tools-syntax", 1, 0},
		"12":                                     {"tools-syntax", 1, 0},
		"{}":                                     {"tools-syntax", 1, 0},
		`{"tools":{}}`:                           {"tools-syntax", 1, 0},
		`{"tools":[],"tools":[]}`:                {"tools-syntax", 1, 0},
		"[\n" + good + ",\n}]":                   {"tools-syntax", 3, 0},
		"[\n12,\n" + good + "]":                  {"tools-syntax", 2, 1},
		"[null]":                                 {"tools-syntax", 1, 0},
		"[\xff]":                                 {"encoding", 1, 0},
		strings.Repeat(" ", 256<<10+1):           {"tools-size", 0, 0},
		`{"$schema":"x","tools":[` + good + `]}`: {"tools-key", 1, 1},
		"[\n\n" + tool(`"name":"a","run":["a"],"extra":1`) + "]":                     {"tools-key", 3, 1},
		"[" + tool(`"Name":"a","run":["a"]`) + "]":                                   {"tools-key tools-name", 1, 0},
		"[" + tool(`"name":"a b","run":["a"]`) + "," + good + "]":                    {"tools-name", 1, 1},
		"[" + tool(`"name":12,"run":["a"]`) + "]":                                    {"tools-name", 1, 0},
		"[" + tool(`"name":"`+strings.Repeat("a", 65)+`","run":["a"]`) + "]":         {"tools-name", 1, 0},
		"[" + good + "," + good + "]":                                                {"tools-duplicate", 1, 1},
		`[{"name":"a","run":["a"]}]`:                                                 {"tools-description", 1, 1},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":{"type":"array"}`) + "]":    {"tools-schema", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":{}`) + "]":                  {"tools-schema", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":true`) + "]":                {"tools-schema", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":{"type":["object"]}`) + "]": {"tools-schema", 1, 0},
		"[" + tool(`"name":"a"`) + "]":                                               {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":"ls -l"`) + "]":                                 {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":[]`) + "]":                                      {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":[""]`) + "]":                                    {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a",null]`) + "]":                              {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a",1]`) + "]":                                 {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["/bin/sh"]`) + "]":                             {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["../x"]`) + "]":                                {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a/../b"]`) + "]":                              {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":[".."]`) + "]":                                  {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["."]`) + "]":                                   {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a\\b"]`) + "]":                                {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["C:/x"]`) + "]":                                {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["{x}"]`) + "]":                                 {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a","b\u0000"]`) + "]":                         {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a","{x}"]`) + "]":                             {"tools-placeholder", 1, 1},
		"[" + tool(`"name":"a","run":["a","{x}"],"inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}`) + "]":          {"tools-option", 1, 1},
		"[" + tool(`"name":"a","run":["a","--","{x}"],"inputSchema":{"type":"object","properties":{"x":{}}}`) + "]":                    {"tools-option", 1, 1},
		"[" + tool(`"name":"a","run":["a","{x}"],"inputSchema":{"type":"object","properties":{"x":{"enum":["-a","b"]}}}`) + "]":        {"", 0, 1},
		"[" + tool(`"name":"a","run":["a","{x}"],"inputSchema":{"type":"object","properties":{"x":{"type":["integer"]}}}`) + "]":       {"", 0, 1},
		"[" + tool(`"name":"a","run":["python3.12","-u","scripts/x.py","a"]`) + "]":                                                    {"tools-script", 1, 1},
		"[" + tool(`"name":"a","run":["node","x.js"]`) + "]":                                                                           {"tools-script", 1, 1},
		"[" + tool(`"name":"a","run":["python3","-c","import os.path; print(1/2)"]`) + "]":                                             {"", 0, 1},
		"[" + tool(`"name":"a","run":["python3","-m","json.tool"]`) + "]":                                                              {"", 0, 1},
		"[" + tool(`"name":"a","run":["python3","/usr/lib/x.py"]`) + "]":                                                               {"", 0, 1},
		"[" + tool(`"name":"a","run":["git","log","a/b"]`) + "]":                                                                       {"", 0, 1},
		"[" + tool(`"name":"a","run":["a","{x}y","..","/etc"]`) + "]":                                                                  {"tools-placeholder", 1, 1},
		"[" + tool(`"name":"a","run":["awk","BEGIN {print 1} {print 2}"]`) + "]":                                                       {"", 0, 1},
		"[" + tool(`"name":"a","run":["a","--x={x}"],"inputSchema":{"type":"object","properties":{"x":{}}}`) + "]":                     {"", 0, 1},
		"[" + tool(`"name":"a","run":["a","{x}.md"],"inputSchema":{"type":"object","properties":{"x":{}}}`) + "]":                      {"tools-option", 1, 1},
		"[" + tool(`"name":"a","run":["sh","-c","ls {x}"],"inputSchema":{"type":"object","properties":{"x":{}}}`) + "]":                {"tools-placeholder", 1, 1},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":{"type":"object","properties":{"x":{"type":"text"}}}`) + "]":                  {"tools-schema", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":{"type":"object","properties":{"x":{"$ref":"https://example.com/x"}}}`) + "]": {"tools-schema", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"inputSchema":{"type":"object","required":"x"}`) + "]":                                      {"tools-schema", 1, 0},
		"[" + tool(`"name":"a","command":"a","args":["-x","y"]`) + "]":                                                                 {"", 0, 1},
		"[" + tool(`"name":"a","command":"a"`) + "]":                                                                                   {"", 0, 1},
		"[" + tool(`"name":"a","command":["a"]`) + "]":                                                                                 {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","command":"../a"`) + "]":                                                                                {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","command":"a","args":["x",null]`) + "]":                                                                 {"tools-argv", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"args":["x"]`) + "]":                                                                        {"tools-key", 1, 1},
		"[" + tool(`"name":"a","run":["a"],"cwd":"skill"`) + "]":                                                                       {"", 0, 1},
		"[" + tool(`"name":"a","run":["a"],"cwd":"/etc"`) + "]":                                                                        {"tools-cwd", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"cwd":1`) + "]":                                                                             {"tools-cwd", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"timeoutMs":0`) + "]":                                                                       {"tools-timeout", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"timeout_ms":-1`) + "]":                                                                     {"tools-timeout", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"timeoutMs":1.5`) + "]":                                                                     {"tools-timeout", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"timeoutMs":99999999999999999999`) + "]":                                                    {"tools-timeout", 1, 0},
		"[" + tool(`"name":"a","run":["a"],"argv":["b"]`) + "]":                                                                        {"tools-key", 1, 1},
		"[" + tool(`"name":"a","run":["./scripts/a.sh"]`) + "]":                                                                        {"", 0, 1},
		"[" + strings.Repeat(`{"name":"a b","description":"x","run":[]},`, 1000) + good + "]":                                          {"tools-argv tools-name", 1, 1},
	} {
		tools, problems := catalog.ParseTools("tools.json", []byte(text))
		if got := rules(problems); got != want.rule || len(tools) != want.kept {
			t.Errorf("%.100q: broke %q and kept %d, want %q and %d: %v", text, got, len(tools), want.rule, want.kept, problems)
		} else if want.rule != "" && problems[0].Line != want.line {
			t.Errorf("%.100q: at line %d, want %d", text, problems[0].Line, want.line)
		}
	}
}

// TestToolCommand: what an input makes of a tool's command.
func TestToolCommand(t *testing.T) {
	t.Parallel()
	const schema = `,"inputSchema":{"type":"object","properties":{"x":{},"y":{},"n":{"type":"number"}}}`
	for _, test := range []struct{ run, input, want string }{
		{`"run":["a","--x={x}","{y}"]`, `{"x":"1 2","y":3}`, `["a","--x=1 2","3"]`},
		{`"run":["a","--x={x}","-y","{y}","z"]`, `{}`, `["a","z"]`},
		{`"run":["a","-w","{x}:{y}","z"]`, `{"x":"1"}`, `["a","z"]`},
		{`"run":["a","{x}:{y}"]`, `{"x":"1","y":"{x}"}`, `["a","1:{x}"]`},
		{`"run":["a","{x}.md"]`, `{"x":"-x"}`, `x`},
		{`"run":["a","{x}{y}"]`, `{"x":"","y":"-x"}`, `x`},
		{`"run":["a","{n}.md"]`, `{"n":-1}`, `["a","-1.md"]`},
		{`"run":["a","-{x}"]`, `{"x":"-x"}`, `["a","--x"]`},
		{`"run":["awk","{z} END{print}","{z}"]`, `{"z":"1","print":"2"}`, `["awk","{z} END{print}","1"]`},
		{`"run":["bash","-c","echo {x} \"$1\"","sh","{x}"]`, `{"x":"$(id)"}`, `["bash","-c","echo {x} \"$1\"","sh","$(id)"]`},
		{`"run":["bash","-c","{x}"]`, `{"x":"id"}`, `["bash","-c","id"]`},
		{`"run":["bash","-euxc","ls {x}"]`, `{"x":"$(id)"}`, `["bash","-euxc","ls {x}"]`},
		{`"run":["bash","-c","-x","--","ls {x}","sh","of {x}"]`, `{"x":"$(id)"}`, `["bash","-c","-x","--","ls {x}","sh","of $(id)"]`},
		{`"run":["timeout","5","sh","-c","ls {x}"]`, `{"x":"$(id)"}`, `["timeout","5","sh","-c","ls {x}"]`},
		{`"run":["python3.12","-Ic","print('{x}')"]`, `{"x":"'"}`, `["python3.12","-Ic","print('{x}')"]`},
		{`"run":["perl","-lne","print if /{x}/","{y}.txt"]`, `{"x":"/","y":"1"}`, `["perl","-lne","print if /{x}/","1.txt"]`},
		{`"run":["awk","/{x}/"]`, `{"x":"/{system(1)}"}`, `["awk","/{x}/"]`},
		{`"run":["find",".","-exec","sed","s/{x}/{y}/","+"]`, `{"x":"a","y":"/e"}`, `["find",".","-exec","sed","s/{x}/{y}/","+"]`},
		{`"run":["bash","scripts/a.sh","Hello {x}"]`, `{"x":"$(id)"}`, `["bash","scripts/a.sh","Hello $(id)"]`},
		{`"run":["git","commit","-m","Release {x}"]`, `{"x":"1"}`, `["git","commit","-m","Release 1"]`},
		{`"command":"a","args":["{x}","{y}"]`, `{"x":null,"y":[1]}`, `["a","[1]"]`},
	} {
		tools, problems := catalog.ParseTools("tools.json", []byte(`[{"name":"a","description":"d",`+test.run+schema+`}]`))
		if len(tools) != 1 {
			t.Fatalf("%s: %v", test.run, problems)
		}
		var values map[string]json.RawMessage
		check(t, json.Unmarshal([]byte(test.input), &values))
		argv, err := tools[0].Command(values)
		got, _ := json.Marshal(argv)
		if option := (*catalog.OptionError)(nil); errors.As(err, &option) {
			got = []byte(option.Property)
		}
		if string(got) != test.want {
			t.Errorf("%s of %s: %s, want %s", test.run, test.input, got, test.want)
		}
	}
}
