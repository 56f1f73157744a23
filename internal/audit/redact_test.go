package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30)
	for _, test := range []struct{ name, give, want string }{
		{"what is harmless stays", `{"name":"csv","args":["--top","3"],"n":12345678901234567890,"b":true,"z":null}`, `{"args":["--top","3"],"b":true,"n":12345678901234567890,"name":"csv","z":null}`},
		{"text is as it was", `{"command":"a && b > c < d \u00e9"}`, `{"command":"a && b > c < d é"}`},
		{"secret keys", `{"token":"x","apiKey":"x","API_KEY":"x","password":"x","clientSecret":"x","Authorization":"x","key":"x","ssh_key":"x","pin":1234,"keyboard":"qwertz"}`,
			`{"API_KEY":"[redacted]","Authorization":"[redacted]","apiKey":"[redacted]","clientSecret":"[redacted]","key":"[redacted]","keyboard":"qwertz","password":"[redacted]","pin":"[redacted]","ssh_key":"[redacted]","token":"[redacted]"}`},
		{"what is short and harmless stays as it was written", `{"uri":"skill://tide/SKILL.md","n":1}`, `{"uri":"skill://tide/SKILL.md","n":1}`},
		{"an escaped secret key", `{"to\u006ben":"x"}`, `{"token":"[redacted]"}`},
		{"an escaped secret", `{"a":"\u0073esame"}`, `{"a":"***"}`},
		{"a short secret key", `{"pin":1234,"pwd":"x"}`, `{"pin":"[redacted]","pwd":"[redacted]"}`},
		{"a short handle", `{"workspace":"ws-0123456789abcdef0123456789abcdef"}`, `{"workspace":"ws-01234567…"}`},
		{"a short content", `{"content":"x"}`, `{"content":{"bytes":1}}`},
		{"a short environment", `{"env":"A=b"}`, `{"env":"A=[redacted]"}`},
		{"a short secret", `{"command":"x --pin -p=1 AKIA0123456789ABCDEF"}`, `{"command":"x --pin -p=1 [redacted]"}`},
		{"a text that looks like an object", `"{"`, `{"input":{"bytes":3}}`},
		{"an object that does not end", `{"a":1`, `{"input":{"bytes":6}}`},
		{"further secret keys", `{"Auth":"x","PWD":"x","passphrase":"x","accessKey":"x","private_key":"x","setCookie":"x","isBearer":"x","signatures":"x","my_credential":"x","to\u212aen":"x","author":"kept"}`,
			`{"Auth":"[redacted]","PWD":"[redacted]","accessKey":"[redacted]","author":"kept","isBearer":"[redacted]","my_credential":"[redacted]","passphrase":"[redacted]","private_key":"[redacted]","setCookie":"[redacted]","signatures":"[redacted]","to` + "\u212a" + `en":"[redacted]"}`},
		{"what is in a secret", `{"credentials":{"user":"u","more":["a",{"b":"c"}]}}`, `{"credentials":{"more":["[redacted]",{"b":"[redacted]"}],"user":"[redacted]"}}`},
		{"environments", `{"env":{"HOME":"/h","N":1},"environment":["A=b","C"]}`, `{"env":{"HOME":"[redacted]","N":"[redacted]"},"environment":["A=[redacted]","C=[redacted]"]}`},
		{"secret flags", `{"args":["--token","abc","--api-key","d","-v","x","--password=e"]}`, `{"args":["--token","[redacted]","--api-key","[redacted]","-v","x","--password=[redacted]"]}`},
		{"contents", `{"stdin":"1234","file_text":"` + long + `"}`, `{"file_text":{"bytes":300,"sha256":"ba6ab297dbb2bcbc"},"stdin":{"bytes":4}}`},
		{"long texts", `{"command":"` + long + `"}`, `{"command":{"head":"` + long[:125] + `…","bytes":300,"sha256":"ba6ab297dbb2bcbc"}}`},
		{"a long text with a secret has no digest", `{"command":"x --token=hunter2 ` + long + `"}`, `{"command":{"head":"x --token=[redacted] ` + long[:104] + `…","bytes":318}}`},
		{"headers and URLs", `{"command":"curl -H 'Authorization: Bearer abc.def' https://user:pw@host/x ftp://tok@host"}`, `{"command":"curl -H 'Authorization: [redacted]' https://[redacted]@host/x ftp://[redacted]@host"}`},
		{"assignments", `{"command":"GITHUB_TOKEN=abc MY_SECRET='a b' DB_PASSWORD=\"c d\" run --passphrase hunter2; x"}`, `{"command":"GITHUB_TOKEN=[redacted] MY_SECRET=[redacted] DB_PASSWORD=[redacted] run --passphrase [redacted]; x"}`},
		{"known shapes", `{"a":"ghp_0123456789abcdefghij","b":"sk-0123456789abcdefghij","c":"AKIA0123456789ABCDEF","d":"see eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln end","e":"-----BEGIN RSA PRIVATE KEY-----\nMII"}`,
			`{"a":"[redacted]","b":"[redacted]","c":"[redacted]","d":"see [redacted] end","e":"[redacted]"}`},
		{"shapes in other cases", `{"a":"PassWord: x","b":"X-Api-KEY=x","c":"BEARER 0123456789","d":"pa\u017f\u017fword=x","e":"PRIVATE_\u212aEY=x","f":"--CREDENTIALS x","g":"Api-Key: x","h":"Cookie: x","i":"http://u:p@h"}`,
			`{"a":"PassWord: [redacted]","b":"X-Api-KEY=[redacted]","c":"BEARER [redacted]","d":"pa` + "\u017f\u017f" + `word=[redacted]","e":"PRIVATE_` + "\u212a" + `EY=[redacted]","f":"--CREDENTIALS [redacted]","g":"Api-Key: [redacted]","h":"Cookie: [redacted]","i":"http://[redacted]@h"}`},
		{"known prefixes", `{"a":"gho_0123456789abcdefghij","b":"ghu_0123456789abcdefghij","c":"ghs_0123456789abcdefghij","d":"ghr_0123456789abcdefghij","e":"github_pat_0123456789abcdefghij","f":"glpat-0123456789abcdefghij","g":"xoxb-0123456789","h":"AIza0123456789abcdefghij0123456789abcdefghij"}`,
			`{"a":"[redacted]","b":"[redacted]","c":"[redacted]","d":"[redacted]","e":"[redacted]","f":"[redacted]","g":"[redacted]","h":"[redacted]"}`},
		{"handles of workspaces", `{"workspace":"ws-0123456789abcdef0123456789abcdef","path":"workspace://ws-0123456789abcdef0123456789abcdef/a"}`, `{"path":"workspace://ws-01234567…/a","workspace":"ws-01234567…"}`},
		{"what a caller knows", `{"a":"the word is sesame"}`, `{"a":"the word is ***"}`},
		{"what a caller knows, far into a text", `{"a":"` + strings.Repeat("sesame", 170) + `sesame"}`, `{"a":{"head":"` + strings.Repeat("*", 125) + `…","bytes":1026}}`},
		{"what a caller knows, after the head", `{"a":"` + long + strings.Repeat("x", 900) + `sesame"}`, `{"a":{"head":"` + long[:125] + `…","bytes":1206}}`},
		{"deep", `{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}`, `{"a":{"b":{"c":{"d":{"entries":1}}}}}`},
		{"many", `{"a":[` + strings.Repeat("0,", 99) + `0]}`, `{"a":[` + strings.Repeat("0,", 32) + `"… 68 more"]}`},
		{"nothing", `{}`, `{}`},
		{"no object", `[1]`, `{"input":{"bytes":3}}`},
		{"no JSON", `{"a`, `{"input":{"bytes":3}}`},
		{"null", `null`, `{"input":{"bytes":4}}`},
		{"no UTF-8", "{\"a\":\"\xff\"}", `{"a":"` + "\ufffd" + `"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := audit.Redact(json.RawMessage(test.give), func(text string) string { return strings.ReplaceAll(text, "sesame", "***") })
			if string(got) != test.want {
				t.Errorf("redacted:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// What is left of many long arguments is the beginning of each, not nothing.
func TestRedactKeepsWhatFits(t *testing.T) {
	t.Parallel()
	args := make([]string, 1000)
	for i := range args {
		args[i] = strings.Repeat("x", 250)
	}
	give, err := json.Marshal(map[string]any{"name": "csv", "args": args})
	if err != nil {
		t.Fatal(err)
	}
	got := string(audit.Redact(give, nil))
	if !strings.Contains(got, `"name":"csv"`) || !strings.Contains(got, "xxx") || !strings.Contains(got, "more") || len(got) > 4<<10 {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

// Whatever is given, what is left is an object within its bounds, without what
// is known to be secret and without the values of secret keys.
func FuzzRedact(f *testing.F) {
	const secret = "hunter2-is-the-secret"
	for _, seed := range []string{`{}`, `{"name":"csv","args":["--token"]}`, `{"env":{"A":"b"}}`, `[`, `{"command":"curl -H 'Authorization: x'"}`, "{\"a\":\"\xff\u202e\"}", `{"a":1e999}`} {
		f.Add(seed, "text")
	}
	f.Fuzz(func(t *testing.T, input, text string) {
		nested := map[string]any{"token": secret, "x": map[string]any{"password": []any{secret}, "y": text}, "command": text + " --api-key=" + secret, "args": []any{"--secret", secret, text}, "env": map[string]any{text: secret}, "stdin": secret}
		var given map[string]any
		if json.Unmarshal([]byte(input), &given) == nil {
			for key, value := range nested {
				if given != nil {
					given[key] = value
				}
			}
		}
		encoded, err := json.Marshal(given)
		if err != nil {
			return
		}
		for _, give := range []string{input, string(encoded)} {
			got := audit.Redact(json.RawMessage(give), nil)
			var object map[string]json.RawMessage
			if err := json.Unmarshal(got, &object); err != nil || object == nil || len(got) > 4<<10 {
				t.Fatalf("%q is left as %d bytes, %v: %q", give, len(got), err, got)
			}
			if give != input && !strings.Contains(text+input, secret) && strings.Contains(string(got), secret) {
				t.Fatalf("%q leaks: %q", give, got)
			}
		}
	})
}

// A known secret of which only the beginning lies within what is kept is found.
func TestRedactAcrossCut(t *testing.T) {
	t.Parallel()
	long, other := strings.Repeat("a", 1000), strings.Repeat("b", 100)
	known := strings.NewReplacer(long, "*", other, "+").Replace
	give, err := json.Marshal(map[string]string{"command": "x " + long + " " + other + strings.Repeat("c", 300)})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(audit.Redact(give, known)); !strings.Contains(got, `"head":"x * +ccc`) {
		t.Errorf("a part of a secret is left: %s", got)
	}
}
