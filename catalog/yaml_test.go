package catalog_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// TestCoreSchema holds the reading of YAML to the core schema of YAML 1.2.2,
// section 10.3.2, and to what the JavaScript package yaml, version 2, gives.
func TestCoreSchema(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		// Booleans and nulls of YAML 1.1 are strings.
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "off": `"off"`, "y": `"y"`, "N": `"N"`,
		"true": "true", "True": "true", "TRUE": "true", "tRue": `"tRue"`, "false": "false",
		"null": "null", "~": "null", "": "null", "NULL": "null", "nULL": `"nULL"`, "~x": `"~x"`,
		// Timestamps and sexagesimals are strings.
		"2024-01-01": `"2024-01-01"`, "2024-01-01T10:00:00Z": `"2024-01-01T10:00:00Z"`,
		"2024-1-1 10:00:00": `"2024-1-1 10:00:00"`, "1:20": `"1:20"`, "12:30:45": `"12:30:45"`,
		// Whole numbers, with all their digits.
		"0": "0", "12": "12", "+12": "12", "-12": "-12", "-0": "0", "017": "17", "-007": "-7",
		"0o17": "15", "0O17": `"0O17"`, "0o8": `"0o8"`, "-0o7": `"-0o7"`,
		"0x1F": "31", "0X1f": `"0X1f"`, "0xg": `"0xg"`, "-0x1F": `"-0x1F"`,
		"0xFFFFFFFFFFFFFFFFFF":           "4722366482869645213695",
		"0b101":                          `"0b101"`,
		"1_000":                          `"1_000"`,
		"123456789012345678901234567890": "123456789012345678901234567890",
		// Other numbers, as a double's shortest form.
		"1.10": "1.1", "1.0": "1", "1.": "1", "-.5": "-0.5", ".5": "0.5", "+.5": "0.5",
		"1e3": "1000", "1E+3": "1000", "1e-7": "1e-07", "1e21": "1e+21", "12e03": "12000", "-0.0": "-0",
		"1e": `"1e"`, "e1": `"e1"`, ".": `"."`, "..": `".."`, "+": `"+"`, "-": "", "1.2.3": `"1.2.3"`,
		".inf": "null", "-.INF": "null", "+.inf": "null", ".NaN": "null", ".Nan": `".Nan"`, "1e999": "null",
		"Infinity": `"Infinity"`, "NaN": `"NaN"`,
		// Quotes and tags.
		`"12"`: `"12"`, "'true'": `"true"`, "! 12": `"12"`, "&a ! 12": `"12"`, "!!str 12": `"12"`,
		"!!int 12": "12", `!!int "12"`: "12", "!!float 1": "1", "!!float 1.50": "1.5",
		"!!int x": `"x"`, "!!bool yes": `"yes"`, "!!null x": `"x"`, "!!binary aGk=": `"aGk="`, "!x y": `"y"`, "!x [y]": `["y"]`,
		"!!set {a, b}": `{"a":null,"b":null}`,
		// Merge keys are plain keys.
		"<<": `"<<"`, "{<<: {a: b}}": `{"<<":{"a":"b"}}`, "\n  <<: &b {x: 1}\n  y: *b": `{"<<":{"x":1},"y":{"x":1}}`,
		// Text.
		"a#b": `"a#b"`, "a # c": `"a"`, "it's": `"it's"`, "'it''s'": `"it's"`, `C:\dir`: `"C:\\dir"`,
		"x\ufeffy":                        "\"x\ufeffy\"",
		`"\u00e9\x41\t\N\L\_"`:            "\"éA\\t\u0085\\u2028\u00a0\"",
		`"a\/b"`:                          `"a/b"`,
		`'a\/b'`:                          `"a\\/b"`,
		`a\/b`:                            `"a\\/b"`,
		`"a\\/b"`:                         `"a\\/b"`,
		`"\ud83d\ude00!"`:                 `"😀!"`, // as JSON has it
		`"a\\\uD83D\uDe00\n\ud83d\ude01"`: `"a\\😀\n😁"`,
		"\"\\ud83d\\ude00\n  \\ud83d\\ude01\" # \\ud83d\\ude00":          `"😀 😁"`,
		`["\ud83d\ude00", '\ud83d\ude00', \ud83d\ude00, "\ud83d\ude01"]`: `["😀","\\ud83d\\ude00","\\ud83d\\ude00","😁"]`,
		`"\ud83d"`: "", `"\ude00\ud83d"`: "", `"\ud83d \ude00"`: "", `"\ud83d\ude00\ud83d"`: "", // halves are no characters
		`'\ud83d\ude00'`:                `"\\ud83d\\ude00"`,
		`"\\ud83d\\ude00"`:              `"\\ud83d\\ude00"`,
		"|\n    a\n     b\n\n    c\n\n": `"a\n b\n\nc\n"`,
		"|-\n    a\n":                   `"a"`,
		"|+\n    a\n\n":                 `"a\n\n\n"`,
		">\n    a\n    b\n\n    c\n":    `"a b\nc\n"`,
		"a\n    b\n\n    c":             `"a b\nc"`,
		// Flow collections.
		"[a, [b], {c: d}, ]":      `["a",["b"],{"c":"d"}]`,
		"{a, b: , c: d}":          `{"a":null,"b":null,"c":"d"}`,
		`{"a":1,'b':2}`:           `{"a":1,"b":2}`,
		"[http://x.y/?q=1, what?": "",
		"[http://x.y/?q=1, a? b]": `["http://x.y/?q=1","a? b"]`,
		"[?x, :y, a ? b]":         `["?x",":y","a ? b"]`,
		"{k: :v, l: ?w}":          `{"k":":v","l":"?w"}`,
		"[? a : b, ? c]":          `[{"a":"b"},{"c":null}]`,
		"\n  ? a\n  : b\n  ? c\n": `{"a":"b","c":null}`,
	} {
		doc, problems := catalog.ParseDocument("f", []byte("---\nk: "+yaml+"\n---\n"))
		if want != "" {
			want = `{"k":` + want + `}`
		}
		if string(doc.Frontmatter) != want {
			t.Errorf("%q: %s, want %s; problems %v", yaml, doc.Frontmatter, want, problems)
		}
	}
}

func TestUnquotedColons(t *testing.T) {
	t.Parallel()
	const broken = "yaml-syntax"
	for yaml, want := range map[string]string{
		"description: Use when: asked":                     `{"description":"Use when: asked"}`,
		"description: Steps:":                              `{"description":"Steps:"}`,
		"description: It's so: 'x' # note\nz: 1":           `{"description":"It's so: 'x'","z":1}`,
		"a: 1\nd: Use when: x\nb: Not: y\n":                `{"a":1,"d":"Use when: x","b":"Not: y"}`,
		"d: Use when: x\n  and on: such\n\n  as\nz: 1":     `{"d":"Use when: x and on: such\nas","z":1}`,
		"d: Use when\n  such as: y\nz: 1":                  `{"d":"Use when such as: y","z":1}`,
		"m:\n  note: a: b\nz: 1":                           `{"m":{"note":"a: b"},"z":1}`,
		"l:\n  - name: a: b\nz: 1":                         `{"l":[{"name":"a: b"}],"z":1}`,
		"b: |\n  key: not: touched\nd: x: y":               `{"b":"key: not: touched\n","d":"x: y"}`,
		"b: >-\n  key: not: touched\n\n  k: v: w\nd: x: y": `{"b":"key: not: touched\nk: v: w","d":"x: y"}`,
		"d: x: y\r\nz: 1\r":                                `{"d":"x: y","z":1}`,
		"q: \"a: b\"\ns: 'c: d'\nd: x: y":                  `{"q":"a: b","s":"c: d","d":"x: y"}`,
		"u: http://x.y\nd: see: http://x.y":                `{"u":"http://x.y","d":"see: http://x.y"}`,
		"description: fine\n license: MIT":                 broken, // more likely a key that slipped
		"d: \"x\": y":                                      broken,
		"d: [x: y":                                         broken,
		"d: x: y\n\tz: 1":                                  broken,
		"d: x: y\n  z\rallowed-tools: Read":                broken, // a key behind a line break of YAML
		"d: x: y\n \rallowed-tools: Read":                  broken,
		"d: x # y: z\n  a\rallowed-tools: Read":            broken,
	} {
		doc, problems := catalog.ParseDocument("f", []byte("---\n"+yaml+"\n---\n"))
		if want == broken {
			wantRules(t, problems, broken)
			continue
		}
		if string(doc.Frontmatter) != want {
			t.Errorf("%q: %s, want %s", yaml, doc.Frontmatter, want)
		}
		wantRules(t, problems, "yaml-colon")
	}
}
