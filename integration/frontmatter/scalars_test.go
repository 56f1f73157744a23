package frontmatter

import (
	"fmt"
	"slices"
	"strings"
)

// plainScalars are texts that some schema takes for more than a string, and
// some that none does.
var plainScalars = []string{
	// Nulls and booleans of YAML 1.2, of 1.1, and near misses.
	"null", "Null", "NULL", "nULL", "~", "~x", "nil", "none", "None", "true", "True", "TRUE", "tRUE", "false",
	"False", "FALSE", "fALSE", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "y",
	"Y", "n", "N", "t", "f",
	// Whole numbers.
	"0", "00", "-0", "+0", "1", "+1", "-1", "12", "0012", "017", "-017", "08", "0o17", "0o0", "0O17", "0o8",
	"-0o17", "+0o17", "0x1F", "0xff", "0X1F", "-0x1F", "+0x1F", "0xG", "0x", "0b101", "0B101", "-0b1", "0b",
	"1_000", "0x_ff", "0b1_0", "_1", "1_", "9007199254740991", "9007199254740992", "9007199254740993",
	"-9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
	"18446744073709551616", "-9223372036854775809", "123456789012345678901234567890",
	"000123456789012345678901234567890", "0xFFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFFFF",
	"0o7777777777777777777777777",
	// Numbers with a fraction or an exponent.
	"1.10", "1.0", "1.", "5.", ".5", "-.5", "+.5", "+1.5", "-1.5", "-0.0", "+0.0", "0.1", "00.5", "01.50",
	"1.5.2", "1e3", "1E3", "1e+3", "1e-3", "1.5e3", ".5e1", "5.e1", "1e", "e3", "1e3.5", "1.e", "+.e1", "1e21",
	"1e-7", "123456789.123456789", "0.30000000000000004", "1e308", "1e309", "-1e999", "1e-400", "4.9e-324",
	"2.5e-324", "1e23", "9007199254740993.0", "123456789012345678901234567890.0", "1_000.5", "1e1_0", "0x1.8p3",
	"0e0", "-0e5", "1,000", "1 000", "100%", "1/2", "1k", ".", "..", "-.", "+", "+.", ".e1", ".inf", ".Inf",
	".INF", ".iNF", "-.inf", "+.inf", "-.INF", ".nan", ".NaN", ".NAN", ".Nan", "-.nan", "inf", "nan", "NaN",
	"Infinity", "-Infinity",
	// Times and dates.
	"2024-01-01", "2024-1-1", "2024-13-45", "2024-01-01T10:00:00Z", "2024-01-01t10:00:00+01:00",
	"2024-01-01 10:00:00", "2024-01-01 10:00:00.5 Z", "2001-12-14t21:59:43.10-05:00", "10:30", "1:20",
	"10:30:00", "190:20:30", "190:20:30.15", "-1:30", "+1:30", "00:00", "2024-01", "2024", "01/02/2024",
	"20240101", "P1D",
	// Versions and the like.
	"1.2.3", "v1.0", "1.0.0-beta.1", "1.0-rc", "^1.0", "~1.0", "=1.0", "=", "==", "<<", "<", "<=1", "<<<", "1.x",
	"10.0.0.1", "::1", "c0ffee", "1e5f", "12e03", "0e1f", "deadbeef",
	// Words with signs in them.
	"a-b", "a_b", "a.b", "a/b", "a\\b", "C:\\dir", "a:b", "http://example.org/?q=1&r=2#top", "a#b", "a##b",
	"it's", "say \"hi\"", "a, b", "a,b", "a;b", "(a)", "a(b)", "a[0]", "a{b}", "$a", "${a}", "a&b", "a*b", "a!b",
	"a|b", "a>b", "a%b", "a@b", "a`b`c", "a?b", "what?", "a ? b", "a - b", "a -b", "-a", "-- a", "---a", "--",
	"-1a", "?a", "??", ":a", ":-)", "a?:b", "x'", "x\"", "'", "\\n", "\\x41", "a\\", "...a",
	"....", "!", "&", "*", "%a", "@a", "`a", "|a", ">a", "#a", "]", "}", "{", "[", ",", ",a", "\"", "- a", "? a",
	": a", "a :b", "a #b", "a # b",
	// Unicode.
	"é", "e\u0301", "日本語", "😀", "👩‍👩‍👧", "שלום", "مرحبا", "a\u00a0b", "a\u3000b", "\u00a0", "ﬁ", "İ", "ß",
	"\u200b", "a\u200bb", "\u202eabc", "a\u00adb", "\ue000", "\U000f0000", "\U0010fffd", "１２", "٣", "−1", "½",
	"∞", "“a”",
}

// quotedScalars are scalars in quotes, with everything that may stand in
// them, and tagged ones.
var quotedScalars = []string{
	"''", "\"\"", "' '", "'a'", "'it''s'", "''''", "'''a'''", "'a: b'", "'a # b'", "'# a'", "'- a'", "'[a]'",
	"'\\n'", "'\\'", "'\"'", "'%'", "'@a'", "'!a'", "'&a'", "'*a'", "' a '", "'a\tb'", "'é😀'", "'\u2028'",
	"'\u0085'", "'\ufeff'", "\"a\"", "\"it's\"", "\"a: b\"", "\"a # b\"", "\" a \"", "\"a\tb\"", "\"é😀\"",
	"\"\u2028\"", "\"\u0085\"", "\"\ufeff\"", "\"'\"", "\"%\"", "\"@\"", "\"---\"", "\"...\"", `"\0"`, `"\a"`,
	`"\b"`, `"\t"`, `"\n"`, `"\v"`, `"\f"`, `"\r"`, `"\e"`, `"\ "`, `"\""`, `"\/"`, `"\\"`, `"\N"`, `"\_"`,
	`"\L"`, `"\P"`, "\"\\\t\"", `"\x41"`, `"\xe9"`, `"\x00"`, `"\x7f"`, `"\x85"`, `"\u00e9"`, `"\u0000"`,
	`"\u2028"`, `"\ufeff"`, `"\ufffe"`, `"\uffff"`, `"\U0001f600"`, `"\U0010ffff"`, `"\U0000e000"`,
	`"\ud83d\ude00"`, `"\\ud83d\\ude00"`, `"\\/"`, `"a\nb\tc\\d\"e"`, `"\x4"`, `"\u41"`, `"\U0041"`, `"\xzz"`,
	`"\q"`, `"\1"`, `"\U00110000"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\x41\u0042\U00000043"`, `"\u0041"`,
	"!!str a", "!!str 12", "!!str true", "!!str null", "!!str ~", "!!str", "!!str ''", "!!str 2024-01-01",
	"!!str 'a'", "!!str \"12\"", "!!int 12", "!!int 0o17", "!!int 0x1F", "!!int \"12\"", "!!int '12'", "!!int x",
	"!!int 1.5", "!!int ''", "!!int", "!!float 1", "!!float 1.50", "!!float 1e3", "!!float \"1.5\"",
	"!!float .inf", "!!float x", "!!bool true", "!!bool yes", "!!bool \"true\"", "!!bool 1", "!!null null",
	"!!null ~", "!!null ''", "!!null", "!!null x", "!!null \"null\"", "! a", "! 12", "! true", "! null", "! ~",
	"! 'a'", "! \"12\"", "!", "! 1.50", "! 2024-01-01", "!custom a", "!custom 12", "!custom 'a'", "!custom",
	"!!binary aGk=", "!!timestamp 2024-01-01", "!!merge <<", "!!python/none x", "!<tag:yaml.org,2002:str> 12",
	"!<tag:yaml.org,2002:int> 12", "!<!local> 12", "!<tag:example.org,2024:x> 12", "!e!x a", "!!map a",
	"!!seq a", "&a", "&a 12", "&a 'b'", "&a !!str 12", "!!str &a 12", "&a ! 12", "! &a 12", "&a:b x",
	"&a, x",
}

// scalarDocuments puts each scalar wherever a scalar can stand.
func scalarDocuments() []document {
	var documents []document
	for _, text := range plainScalars {
		documents = append(documents, valueDocuments("plain scalar", text)...)
	}
	for _, text := range quotedScalars {
		documents = append(documents, valueDocuments("scalar", text)...)
	}
	return append(documents, quotedDocuments()...)
}

// valueDocuments puts a scalar into block collections, into flow collections
// and where a key stands.
func valueDocuments(what, text string) []document {
	const (
		block = "k: X\nl:\n- X\n-   X # comment\n- - X\n- m: X\n  n:   X \no:\n  X\n"
		flow  = "k: [X, X,X , [ X ]]\nl: {a: X, b:   X}\nm: [X\n  , X]\n"
		key   = "k:\n  X: 1\n  z: 2\nl: {X: 1}\n"
	)
	in := func(place, text string) string { return header + strings.ReplaceAll(place, "X", text) }
	return []document{
		{origin: what + " in blocks: " + text, yaml: in(block, text)},
		{origin: what + " in flow: " + text, yaml: in(flow, text)},
		{origin: what + " as a key: " + text, yaml: in(key, text)},
	}
}

// quotedDocuments puts every plain scalar into quotes, some to a document.
func quotedDocuments() []document {
	var documents []document
	for texts := range slices.Chunk(plainScalars, 8) {
		var yaml strings.Builder
		for i, text := range texts {
			single, double := singleQuoted(text), doubleQuoted(text)
			fmt.Fprintf(&yaml, "k%d: %s\nl%d: [%s, {%s: %s}]\n%s: 1\n", i, single, i, double, single, double, double)
		}
		documents = append(documents, document{origin: "quoted scalars", yaml: header + yaml.String()})
	}
	return documents
}

func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func doubleQuoted(text string) string {
	return "\"" + strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\t", "\\t", "\n", "\\n").Replace(text) + "\""
}
