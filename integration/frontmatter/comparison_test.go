package frontmatter

import (
	"errors"
	"slices"
	"testing"
)

func TestComparisonFindsWhatDiffers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ours, theirs         string
		javascript, inPython bool // whether they are alike there
	}{
		{`{"a":1,"b":[true,null,"x"]}`, `{"a":1,"b":[true,null,"x"]}`, true, true},
		{`{"a":1}`, `{"a":2}`, false, false},
		{`{"a":1}`, `{"a":"1"}`, false, false},
		{`{"a":null}`, `{}`, false, false},
		{`{}`, `{"a":null}`, false, false},
		{`{"a":[]}`, `{"a":{}}`, false, false},
		{`[1,2]`, `[1]`, false, false},
		{`"x"`, `null`, false, false},
		{`[{"a":"x"}]`, `[{"a":"X"}]`, false, false},
		// The order of keys, which JavaScript does not keep for indexes.
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false, false},
		{`{"a":1,"10":2,"2":3}`, `{"2":3,"10":2,"a":1}`, true, false},
		{`{"b":1,"10":2,"a":3}`, `{"10":2,"a":3,"b":1}`, false, false},
		{`{"a":1,"01":2}`, `{"01":2,"a":1}`, false, false},
		{`{"a":1,"4294967295":2}`, `{"4294967295":2,"a":1}`, false, false},
		// Numbers: doubles in JavaScript, all digits in Python.
		{`1`, `1.0`, true, true},
		{`1e3`, `1000.0`, true, true},
		{`9007199254740993`, `9007199254740992`, true, false},
		{`9007199254740993`, `9007199254740993`, true, true},
		{`1e+30`, `1000000000000000019884624838656.0`, true, true},
		{`0.1`, `0.10000000000000002`, false, false},
	} {
		ours, theirs := parsed(t, test.ours), parsed(t, test.theirs)
		if found := inJavaScript.compare("", ours, theirs); (found == "") != test.javascript {
			t.Errorf("%s and %s in JavaScript: %q", test.ours, test.theirs, found)
		}
		if found := inPython.compare("", ours, theirs); (found == "") != test.inPython {
			t.Errorf("%s and %s in Python: %q", test.ours, test.theirs, found)
		}
	}
	if _, err := parseJSON([]byte(`{"a":{"b":1,"b":2}}`)); !errors.Is(err, errDuplicateKey) {
		t.Errorf("a key that stands there twice: %v", err)
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	value, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// What skills-mcp would get wrong must be found, whatever the kinds of
// intended differences are.
func TestDifferencesAreFaultsUnlessIntended(t *testing.T) {
	t.Parallel()
	accepts := func(text string) outcome { return outcome{asked: true, value: parsed(t, text)} }
	refuses := func(why string) outcome { return outcome{asked: true, refusal: why, rules: []string{why}} }
	for _, test := range []struct {
		what   string
		ours   outcome
		theirs outcome // of every reader
		yaml   string
		faults bool
	}{
		{"agreement", accepts(`{"k":1}`), accepts(`{"k":1}`), "k: 1\n", false},
		{"both refuse", refuses("yaml-syntax"), refuses("no"), "k: [\n", false},
		{"another value", accepts(`{"k":"1"}`), accepts(`{"k":1}`), "k: 1\n", true},
		{"YAML 1.1", accepts(`{"k":true}`), accepts(`{"k":"yes"}`), "k: yes\n", true},
		{"digits lost", accepts(`{"k":9007199254740992}`), accepts(`{"k":9007199254740993}`), "k: 9007199254740993\n", true},
		{"another order", accepts(`{"l":1,"k":2}`), accepts(`{"k":2,"l":1}`), "k: 2\nl: 1\n", true},
		{"refused for nothing", refuses("yaml-syntax"), accepts(`{"k":1}`), "k: 1\n", true},
		{"too large, and is not", refuses("frontmatter-size"), accepts(`{"k":1}`), "k: 1\n", true},
		{"no string, and is one", refuses("yaml-key-type"), accepts(`{"k":1}`), "k: 1\n", true},
		{"accepted, and nobody else does", accepts(`{"k":1}`), refuses("no"), "k: 1\n", true},
	} {
		r := reading{
			document: document{yaml: test.yaml}, ours: test.ours,
			javascript: test.theirs, core: test.theirs, ruamel: test.theirs, pyyaml: test.theirs,
		}
		faults := unexplained([]reading{r}, map[string]int{})
		if (len(faults) > 0) != test.faults {
			t.Errorf("%s: %d faults", test.what, len(faults))
		}
	}
}

func TestSplitGivesTheFrontmatter(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"---\nk: v\n---\nbody\n":              "k: v\n",
		"\ufeff---\r\nk: v\r\n--- \t\r\nbody": "k: v\r\n",
		"\n---\nk: |\n  ---\n---":             "k: |\n  ---\n",
		"k: v\n---\n":                         "",
		"---\nk: v\n":                         "",
		"":                                    "",
	} {
		if got, found := split([]byte(entry)); got != want || found != (want != "") {
			t.Errorf("%q: %q, %t, want %q", entry, got, found, want)
		}
	}
}

func TestShorterLeavesLinesOut(t *testing.T) {
	t.Parallel()
	var got []string
	for _, d := range shorter(document{yaml: header + "a: 1\nb: 2\n"}.named("x")) {
		got = append(got, d.yaml)
	}
	for _, want := range []string{"a: 1\n", "b: 2\n"} {
		if !slices.Contains(got, header+want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
}
