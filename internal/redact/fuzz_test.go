package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// usable reports whether a value is one that a secret can have.
func usable(value string) bool {
	return len(value) >= 8 && len(value) < 200 && utf8.ValidString(value) && strings.Trim(value, `\`) == value && len(strings.Trim(value, `\%&+ 0123456789#;x`)) >= 8 &&
		!strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 })
}

// FuzzChunks holds that it does not matter how a text is cut into writes, that what
// is redacted stays as it is when that is done again, and that JSON stays JSON.
func FuzzChunks(f *testing.F) {
	for _, value := range values {
		for i, escape := range escapes {
			f.Add(value, "a secret of its own", `{"x":"`+escape.encode(value)+`","y":"a secret of its own`, []byte{byte(i), 3, 7})
		}
		f.Add(value, value[1:]+value, base64.StdEncoding.EncodeToString([]byte("x"+value+value+"y")), []byte{1, 2})
	}
	f.Fuzz(func(t *testing.T, value, other, text string, sizes []byte) {
		if !usable(value) || !usable(other) || len(text) > 4<<10 {
			t.Skip()
		}
		set := setOf(value, other)
		whole := set.Bytes([]byte(text))
		var out bytes.Buffer
		w := set.Writer(&out)
		for rest, at := []byte(text), 0; len(rest) > 0; at++ {
			size := 1
			if len(sizes) > 0 {
				size += int(sizes[at%len(sizes)]) % 9
			}
			size = min(size, len(rest))
			piece := slices.Clone(rest[:size])
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
			clear(piece) // a writer keeps nothing of what it is given
			rest = rest[size:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), whole) {
			t.Errorf("%q in pieces gives %q, and as a whole %q", text, out.Bytes(), whole)
		}
		if strings.Contains(string(whole), value) {
			t.Errorf("%q gives %q", text, whole)
		}
		cut := min(len(sizes), len(text))
		parts := string(set.Part([]byte(text), 0, cut)) + string(set.Part([]byte(text), cut, len(text)))
		if unmarked := strings.NewReplacer("[secret NAME0]", "", "[secret NAME1]", ""); !strings.Contains(text, "[") && unmarked.Replace(parts) != unmarked.Replace(string(whole)) {
			t.Errorf("%q cut at %d gives %q, and as a whole %q", text, cut, parts, whole)
		}
		if json.Valid([]byte(text)) {
			if got := set.JSON([]byte(text)); !json.Valid(got) {
				t.Errorf("%q gives %q, which is no JSON", text, got)
			}
		}
	})
}

// FuzzForms holds that no way to write a value that is known hides it, whatever is
// around it, and that nothing else is changed.
func FuzzForms(f *testing.F) {
	for _, value := range values {
		for i := range escapes {
			f.Add(value, "{\"a\":\"", "\",\"b\":1}", uint8(i), uint8(0))
		}
		for i := range 12 {
			f.Add(value, "ab"[:i%3], "yz", uint8(0), uint8(i+1))
		}
	}
	encodings := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
	f.Fuzz(func(t *testing.T, value, before, after string, escape, encoding uint8) {
		// What is around it is no part of an escape or of a value itself.
		if !usable(value) || strings.ContainsAny(before+after, `\%&`) || len(before)+len(after) > 200 {
			t.Skip()
		}
		set := setOf(value)
		if set.String(before) != before || set.String(after) != after || strings.Contains(before+"[secret NAME0]"+after, value) {
			t.Skip()
		}
		if encoding == 0 {
			how := escapes[int(escape)%len(escapes)]
			form := how.encode(value)
			got, want := set.String(before+form+after), before+"[secret NAME0]"+after
			if got != want && !overlaps(before+form+after, value) {
				t.Errorf("%s of %q: %q gives %q", how.name, value, before+form+after, got)
			}
			return
		}
		clear := before + value + after
		if overlaps(clear, value) || nearly(clear, value) > 1 {
			t.Skip()
		}
		how := encodings[int(encoding)%len(encodings)]
		text := how.EncodeToString([]byte(clear))
		decoded, err := how.DecodeString(set.String(text))
		if want := before + stars(value) + after; err != nil || string(decoded) != want {
			t.Errorf("base64 of %q gives %q, %v", clear, decoded, err)
		}
	})
}

// overlaps reports whether a text may hold more of a value than one whole one.
func overlaps(text, value string) bool {
	for n := 1; n < len(value); n++ {
		if strings.HasSuffix(value, value[:n]) {
			return true
		}
	}
	return strings.Count(text, value) > 1 || strings.ContainsAny(value, " +")
}

// nearly counts where a text holds a value, but for the first and the last
// character, of which base64 at that place may hold too little to compare.
func nearly(text, value string) (n int) {
	for at := range len(text) - len(value) + 1 {
		if text[at+1:at+len(value)-1] == value[1:len(value)-1] {
			n++
		}
	}
	return n
}

// FuzzJSON holds that what is redacted of JSON is what its texts hold.
func FuzzJSON(f *testing.F) {
	for _, value := range values {
		encoded, err := json.Marshal(map[string]any{"a": value, "n": 1.5, value: []any{"x" + value + "y", true, nil}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(value, string(encoded))
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		if !usable(value) || !json.Valid([]byte(text)) || len(text) > 4<<10 {
			t.Skip()
		}
		set := setOf(value)
		got := set.JSON([]byte(text))
		var was, is any
		if json.Unmarshal([]byte(text), &was) != nil {
			t.Skip() // as too deep
		}
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("%q gives %q: %v", text, got, err)
		}
		same(t, set.String, was, is)
	})
}

// same reports where JSON differs in more than what is redacted of its texts.
func same(t *testing.T, redact func(string) string, was, is any) {
	t.Helper()
	switch was := was.(type) {
	case string:
		if is != any(redact(was)) {
			t.Errorf("%q became %q", was, is)
		}
	case []any:
		elements, ok := is.([]any)
		if !ok || len(elements) != len(was) {
			t.Fatalf("%v became %v", was, is)
		}
		for i := range was {
			same(t, redact, was[i], elements[i])
		}
	case map[string]any:
		object, ok := is.(map[string]any)
		if !ok {
			t.Fatalf("%v became %v", was, is)
		}
		renamed := map[string]bool{}
		for key := range was {
			renamed[redact(key)] = true
		}
		if len(renamed) != len(was) {
			return // keys became the same
		}
		for key := range was {
			same(t, redact, was[key], object[redact(key)])
		}
	default:
		if was != is {
			t.Errorf("%v became %v", was, is)
		}
	}
}
