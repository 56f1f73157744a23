package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/skills-mcp/skills-mcp/internal/redact"
)

// quoted returns a text as JSON has it between its quotes.
func quoted(text string) string {
	encoded, _ := json.Marshal(text)
	return string(encoded[1 : len(encoded)-1])
}

// escaped writes every character as \uXXXX, in that format.
func escaped(text, format string) string {
	var all strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&all, format, unit)
	}
	return all.String()
}

func eachByte(text, format string) string {
	var all strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&all, format, text[i])
	}
	return all.String()
}

func eachRune(text, format string) string {
	var all strings.Builder
	for _, c := range text {
		fmt.Fprintf(&all, format, c)
	}
	return all.String()
}

// escapes are the ways to write a value in a text in which a marker takes its
// place.
var escapes = []struct {
	name   string
	encode func(string) string
}{
	{"plain", func(v string) string { return v }},
	{"JSON", quoted},
	{"JSON in JSON", func(v string) string { return quoted(quoted(v)) }},
	{"JSON in JSON in JSON", func(v string) string { return quoted(quoted(quoted(v))) }},
	{"JSON with escaped slashes", func(v string) string { return strings.ReplaceAll(quoted(v), "/", `\/`) }},
	{"JSON with escaped slashes in JSON", func(v string) string { return quoted(strings.ReplaceAll(quoted(v), "/", `\/`)) }},
	{"all of JSON's escapes", func(v string) string { return escaped(v, `\u%04x`) }},
	{"all of JSON's escapes in upper case", func(v string) string { return escaped(v, `\u%04X`) }},
	{"all of JSON's escapes in JSON", func(v string) string { return quoted(escaped(v, `\u%04x`)) }},
	{"bytes of C and Python", func(v string) string { return eachByte(v, `\x%02x`) }},
	{"octal of C", func(v string) string { return eachByte(v, `\%03o`) }},
	{"code points of JavaScript", func(v string) string { return eachRune(v, `\u{%x}`) }},
	{"long code points of Python", func(v string) string { return eachRune(v, `\U%08x`) }},
	{"query of a URL", url.QueryEscape},
	{"path of a URL", url.PathEscape},
	{"URL in a URL", func(v string) string { return url.QueryEscape(url.QueryEscape(v)) }},
	{"every byte of a URL", func(v string) string { return eachByte(v, "%%%02x") }},
	{"every byte of a URL in upper case", func(v string) string { return eachByte(v, "%%%02X") }},
	{"JSON in a URL", func(v string) string { return url.QueryEscape(quoted(v)) }},
	{"URL in JSON", func(v string) string { return quoted(eachByte(v, "%%%02X")) }},
	{"HTML", html.EscapeString},
	{"HTML in JSON", func(v string) string { return quoted(html.EscapeString(v)) }},
	{"HTML in HTML", func(v string) string { return html.EscapeString(html.EscapeString(v)) }},
	{"decimal entities", func(v string) string { return eachRune(v, "&#%d;") }},
	{"hexadecimal entities", func(v string) string { return eachRune(v, "&#x%X;") }},
	{"quotes of a shell or of Go", func(v string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) }},
}

var values = []string{
	"sk-live-4f9a8b7c6d5e", `p"a\s/s<w>o&r'd+`, "100%/of?it=all&that#is", "zürich-日本-passwort", "emoji-😀-secret", "with spaces in it",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_123", "aaaaaaab", "nnnnewline", `C:\new\table\x41`, "%41bc%42de%2541", "AAAAAAAA+/==", "&amp;&lt;x&;y",
	strings.Repeat("0123456789abcdef", 8),
}

func setOf(all ...string) *redact.Set {
	set := &redact.Set{}
	for i, value := range all {
		set.Add(fmt.Sprintf("NAME%d", i), value)
	}
	return set
}

// written writes a text in pieces of that size.
func written(t testing.TB, set *redact.Set, text []byte, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := set.Writer(&out)
	for rest := text; len(rest) > 0; {
		n := min(size, len(rest))
		if wrote, err := w.Write(rest[:n]); err != nil || wrote != n {
			t.Fatalf("wrote %d: %v", wrote, err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestValuesAreFoundHoweverTheyAreEscaped(t *testing.T) {
	t.Parallel()
	for _, value := range values {
		set := setOf(value)
		for _, escape := range escapes {
			form := escape.encode(value)
			for _, around := range [][2]string{{"", ""}, {`{"key":"`, `","x":1}`}, {"a\n", "\nb"}, {"<p>", "</p>"}} {
				text := around[0] + form + around[1]
				want := around[0] + "[secret NAME0]" + around[1]
				got := set.String(text)
				if got != want {
					t.Errorf("%s of %q: %q gives %q", escape.name, value, text, got)
				}
				for _, size := range []int{1, 5} {
					if got, want := written(t, set, []byte(text), size), set.String(text); string(got) != want {
						t.Errorf("%s of %q in pieces of %d gives %q, not %q", escape.name, value, size, got, want)
					}
				}
			}
		}
	}
}

// stars are what takes the place of a value in what is encoded.
func stars(value string) string { return strings.Repeat("*", len(value)) }

func wrapped(text string, width int, with string) string {
	var lines []string
	for ; len(text) > width; text = text[width:] {
		lines = append(lines, text[:width])
	}
	return strings.Join(append(lines, text), with)
}

func TestEncodedValuesBecomeAsterisksThatCanBeDecoded(t *testing.T) {
	t.Parallel()
	encodings := []struct {
		name           string
		encode         func([]byte) string
		decode         func(string) ([]byte, error)
		wrap, unescape func(string) string
	}{
		{name: "base64", encode: base64.StdEncoding.EncodeToString, decode: base64.StdEncoding.DecodeString},
		{name: "base64 without padding", encode: base64.RawStdEncoding.EncodeToString, decode: base64.RawStdEncoding.DecodeString},
		{name: "base64 for URLs", encode: base64.URLEncoding.EncodeToString, decode: base64.URLEncoding.DecodeString},
		{name: "base64 for URLs without padding", encode: base64.RawURLEncoding.EncodeToString, decode: base64.RawURLEncoding.DecodeString},
		{name: "hexadecimal", encode: hex.EncodeToString, decode: hex.DecodeString},
		{name: "hexadecimal in upper case", encode: func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }, decode: hex.DecodeString},
	}
	for _, value := range values {
		set := setOf(value)
		for _, encoding := range encodings {
			for before := range 4 {
				for after := range 3 {
					clear := strings.Repeat("\xfb\xef\xbe", 2)[:before] + value + strings.Repeat("\xff\xfb", 3)[:after]
					want := strings.Replace(clear, value, stars(value), 1)
					text := encoding.encode([]byte(clear))
					got := set.String(text)
					decoded, err := encoding.decode(got)
					if err != nil || string(decoded) != want || len(got) != len(text) {
						t.Errorf("%s of %q gives %q: %q, %v", encoding.name, clear, got, decoded, err)
					}
					for _, size := range []int{1, 5} {
						if again := written(t, set, []byte(text), size); string(again) != got {
							t.Errorf("%s of %q in pieces of %d gives %q, not %q", encoding.name, clear, size, again, got)
						}
					}
					for _, with := range []string{"\n", "\r\n", `\n`, `\\r\\n`, "\n  "} {
						lines := wrapped(text, 7, with)
						if got, want := set.String(lines), wrapped(got, 7, with); got != want {
							t.Errorf("%s of %q on lines: %q, not %q", encoding.name, clear, got, want)
						}
					}
				}
			}
		}
	}
}

// What is encoded twice is found, and stays what can be decoded once.
func TestBase64InBase64(t *testing.T) {
	t.Parallel()
	for _, value := range values {
		set := setOf(value)
		for before := range 3 {
			for outer := range 3 {
				inner := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
				text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", outer) + inner))
				got := set.String(text)
				decoded, err := base64.StdEncoding.DecodeString(got)
				if err != nil || strings.Count(string(decoded), "*") < len(value) {
					t.Errorf("%q gives %q: %q, %v", text, got, decoded, err)
				}
			}
		}
	}
}

func TestWhatIsNoValueIsUntouched(t *testing.T) {
	t.Parallel()
	set := setOf(values...)
	for _, text := range []string{
		"", "\\", "%", "&", "\\u00", "%2", "&am", `{"a":"\\\\","b":"\u00e9\n"}`, "sk-live", "sk-live-4f9a8b7", "\xff\xfe%zz&foo;\\q", strings.Repeat(`\`, 1000),
		strings.Repeat("%25", 1000), strings.Repeat("&amp;", 1000), "c2stbGl2ZS0\nnope", "a b c\n\n\n", "&#99999999;\\u{110000}\\U99999999",
	} {
		if got := set.String(text); got != text {
			t.Errorf("%q gives %q", text, got)
		}
		for _, size := range []int{1, 3} {
			if got := written(t, set, []byte(text), size); string(got) != text {
				t.Errorf("%q in pieces gives %q", text, got)
			}
		}
		if got := set.Bytes([]byte(text)); string(got) != text {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestEmptySetPassesEverything(t *testing.T) {
	t.Parallel()
	set := setOf("short", "")
	text := []byte(`{"a":"short"}`)
	if set.String(string(text)) != string(text) || &set.Bytes(text)[0] != &text[0] || &set.JSON(text)[0] != &text[0] || string(written(t, set, text, 2)) != string(text) {
		t.Error("something was changed")
	}
}

// A stream that asks and waits is not kept back.
func TestWriterKeepsBackOnlyWhatMayBeAValue(t *testing.T) {
	t.Parallel()
	set := setOf("sk-live-4f9a8b7c6d5e")
	var out strings.Builder
	w := set.Writer(&out)
	for _, step := range []struct{ write, have string }{
		{"Continue? [y/n] ", "Continue? [y/n] "}, {"sk-", "Continue? [y/n] "}, {"ating", "Continue? [y/n] sk-ating"}, {" sk-live-4f9a8b7c6d5e", "Continue? [y/n] sk-ating [secret NAME0]"},
	} {
		if _, err := io.WriteString(w, step.write); err != nil {
			t.Fatal(err)
		}
		if out.String() != step.have {
			t.Errorf("after %q there is %q", step.write, out.String())
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A value that becomes known in the middle of a stream is taken out from there.
func TestWriterFollowsTheSet(t *testing.T) {
	t.Parallel()
	set := &redact.Set{}
	var out strings.Builder
	w := set.Writer(&out)
	fmt.Fprint(w, "before-first ")
	set.Add("A", "before-first")
	fmt.Fprint(w, "before-first before-")
	set.Add("B", "before-second")
	fmt.Fprint(w, "second before-first ")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "before-first [secret A] [secret B] [secret A] "; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// Output that would have to be kept back for ever is not: all of these are
// beginnings of something.
func TestWriterKeepsBackABoundedLength(t *testing.T) {
	t.Parallel()
	set := setOf("abababababababab", "sk-live-4f9a8b7c6d5e")
	for _, again := range []string{"ab", `\`, "%25", "&amp;", "\n", "c2st\n\n", `\u`, "6", "6 ", "a", "abababababababab"} {
		var out bytes.Buffer
		w := set.Writer(&out)
		written := 0
		for range 2000 {
			n, err := io.WriteString(w, again)
			if err != nil {
				t.Fatal(err)
			}
			written += n
		}
		if kept := written - out.Len(); kept > 8<<10 && !strings.HasPrefix(again, "ab") {
			t.Errorf("%q: %d bytes of %d are kept back", again, kept, written)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A key that is renewed again and again does not make others forgotten, and the set
// does not grow for ever.
func TestValuesOfOneName(t *testing.T) {
	t.Parallel()
	set := &redact.Set{}
	set.Add("OTHER", "value-of-another")
	value := func(i int) string { return fmt.Sprintf("renewed-value-%03d", i) }
	for i := range 70 {
		set.Add("KEY", value(i))
		set.Add("KEY", value(0)) // which is in use still
	}
	for text, want := range map[string]string{"value-of-another": "[secret OTHER]", value(0): "[secret KEY]", value(69): "[secret KEY]", value(7): "[secret KEY]", value(6): value(6)} {
		if got := set.String(text); got != want {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestValuesInEachOther(t *testing.T) {
	t.Parallel()
	set := setOf("password-one", "password-one-and-more", "more-password-one")
	for text, want := range map[string]string{
		"password-one":                        "[secret NAME0]",
		"password-one-and":                    "[secret NAME1]",
		"password-one-and-more":               "[secret NAME1]",
		"password-one-and-more-password-one!": "[secret NAME1]!",
		"more-password-one-and-more":          "[secret NAME2]",
		"password-onepassword-one":            "[secret NAME0][secret NAME0]",
	} {
		if got := set.String(text); got != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
		if got := written(t, set, []byte(text), 1); string(got) != want {
			t.Errorf("%q in pieces gives %q, not %q", text, got, want)
		}
	}
}

// Of a value that was cut, what is left is taken out.
func TestCutValues(t *testing.T) {
	t.Parallel()
	set := setOf("sk-live-0123456789abcdefghij")
	for text, want := range map[string]string{
		"x sk-live-0123456789abcd":       "x [secret NAME0]",
		"x sk-live-0123456789abcd…":      "x [secret NAME0]…",
		"x sk-live-0123456789abcd… more": "x [secret NAME0]… more",
		"x sk-live-0123456789abcd more":  "x sk-live-0123456789abcd more",
		"x sk-live-01":                   "x sk-live-01",
	} {
		if got := set.String(text); got != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
	}
}

// TestParts: where a text is cut, its parts hold no more of a value than the
// whole does, in whatever form it is.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, value := range values {
		forms := []string{
			wrapped(base64.StdEncoding.EncodeToString([]byte("x"+value+"y")), 76, "\n"), wrapped(base64.URLEncoding.EncodeToString([]byte(value)), 9, "\n"),
			base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(value))), hex.EncodeToString([]byte(value)),
		}
		for _, escape := range escapes {
			forms = append(forms, escape.encode(value))
		}
		set := setOf(value)
		for _, form := range forms {
			checkParts(t, set, "key: "+form+" and more")
		}
	}
	if margin := (&redact.Set{}).Margin(); margin != 0 {
		t.Errorf("nothing to look for needs a margin of %d", margin)
	}
	if part := string((*redact.Set)(nil).Part([]byte("abc"), 1, 2)); part != "b" {
		t.Errorf("of no set: %q", part)
	}
}

// checkParts cuts a text everywhere, or in some 40 places where it is long.
func checkParts(t *testing.T, set *redact.Set, text string) {
	t.Helper()
	const marker = "[secret NAME0]"
	once := func(text string) string { // where both parts say that a value was there
		return strings.ReplaceAll(text, marker+marker, marker)
	}
	whole := once(set.String(text))
	for cut := 0; cut < len(text); cut += 1 + len(text)/40 {
		before, after := set.Part([]byte(text), 0, cut), set.Part([]byte(text), cut, len(text))
		if got := once(string(before) + string(after)); got != whole {
			t.Fatalf("%q cut at %d is %q and %q, and as a whole %q", text, cut, before, after, whole)
		}
	}
}

// TestPartsOfLongTexts: a part costs as much as itself, and what is beyond the
// margin is not looked at.
func TestPartsOfLongTexts(t *testing.T) {
	t.Parallel()
	const value = "sk-live-4f9a8b7c6d5e"
	set := setOf(value)
	text := []byte(strings.Repeat("x", 1<<20) + value + strings.Repeat("y", 1<<20))
	for shift := range len(value) + 2 {
		at := 1<<20 + shift - 1
		before, after := set.Part(text, at-100, at), set.Part(text, at, at+100)
		if rest := strings.ReplaceAll(string(before)+string(after), "[secret NAME0]", ""); strings.Trim(rest, "xy") != "" {
			t.Errorf("cut at %d: %q and %q", at, before, after)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	set := setOf(`p"a\s/s<w>o&r'd+`, "nnnnewline", "12345678", "sk-live-4f9a8b7c6d5e", `a","b":"cdefgh`)
	for text, want := range map[string]string{
		`{"a":"x p\"a\\s/s<w>o\u0026r'd+ y","n":12345678}` + "\n": `{"a":"x [secret NAME0] y","n":12345678}` + "\n",
		`{"a":"<\nnnnewline>","b":"\u00e9"}`:                      `{"a":"<\nnnnewline>","b":"\u00e9"}`,
		`{"a":"<\nnnnnewline>","b":"\u00e9"}`:                     `{"a":"<\n[secret NAME1]>","b":"\u00e9"}`,
		`{"sk-live-4f9a8b7c6d5e":[true,"12345678"]}`:              `{"[secret NAME3]":[true,"[secret NAME2]"]}`,
		`{"a":"{\"k\":\"12345678\"}"}`:                            `{"a":"{\"k\":\"[secret NAME2]\"}"}`,
		`{"a":"a","b":"cdefgh"}`:                                  `{"a":"a","b":"cdefgh"}`,
		"event: message\ndata: {\"a\":\"12345678\"}\n\n":          "event: message\ndata: {\"a\":\"[secret NAME2]\"}\n\n",
		`no "json 12345678`:                                       `no "json [secret NAME2]`,
		"not 12345678":                                            "not 12345678",
	} {
		if got := set.JSON([]byte(text)); string(got) != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
	}
}

// Backslashes at the edges of a value are what is before and after it, too.
func TestBackslashesAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`trailing\`, `\leading`, `\\\\\\\\ab`, `"quoted"`, `\"both\"\`, `/nnnnnnnn\\`} {
		set := setOf(value)
		for _, text := range []string{`x` + value + `\y`, `\\` + value, `\` + value + `\`, "\n" + value, `"` + value + `"`} {
			encoded, err := json.Marshal(map[string]string{text: text, "b": "c"})
			if err != nil {
				t.Fatal(err)
			}
			nested, err := json.Marshal(string(encoded))
			if err != nil {
				t.Fatal(err)
			}
			for _, whole := range [][]byte{encoded, nested} {
				for _, got := range [][]byte{set.JSON(whole), set.Bytes(whole), written(t, set, whole, 1)} {
					if !json.Valid(got) || bytes.Contains(got, []byte(strings.Trim(value, `\"`))) || !bytes.Contains(got, []byte("[secret NAME0]")) {
						t.Errorf("%q: %s gives %s", value, whole, got)
					}
				}
			}
		}
	}
}
