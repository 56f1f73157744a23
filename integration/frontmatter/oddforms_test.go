package frontmatter

// forgiven is what the specification forbids and skills-mcp reads all the
// same, and what it means.
var forgiven = map[string]string{
	// An unquoted colon, with the warning yaml-colon.
	"k: a: b\n":                         "k: 'a: b'\n",
	"k: a:\n":                           "k: 'a:'\n",
	"k: a : b\n":                        "k: 'a : b'\n",
	"k: ::\n":                           "k: '::'\n",
	"k: a b: c # d\n":                   "k: 'a b: c' # d\n",
	"k: Use when: it's \"new\"\nl: w\n": "k: 'Use when: it''s \"new\"'\nl: w\n",
	"k: a: b\n  c\n\n  d\nl: w\n":       "k: 'a: b\n  c\n\n  d'\nl: w\n",
	"k:\n  l: a: b\n  m: c: d\n":        "k:\n  l: 'a: b'\n  m: 'c: d'\n",
	"k:\n- l: a: b\n  m: c\n- n: d:\n":  "k:\n- l: 'a: b'\n  m: c\n- n: 'd:'\n",
	"k: a: b\nl: |\n  c: d: e\n":        "k: 'a: b'\nl: |\n  c: d: e\n",
	"k: 1: 2\nl: 1.10\nm: no\n":         "k: '1: 2'\nl: 1.10\nm: no\n",
	// An escape that JSON has not either (section 5.7).
	"k: \"it\\'s\"\n":              "k: \"it's\"\n",
	"k: [\"\\'\", {\"\\'\": a}]\n": "k: [\"'\", {\"'\": a}]\n",
	// No space before a comment (section 6.6).
	"k: |#a\n  b\n":   "k: | #a\n  b\n",
	"k: >-# a\n  b\n": "k: >- # a\n  b\n",
	// Lines that must be deeper than the key that they belong to (section 8.2.3).
	"k: 'a\nb'\n":      "k: 'a\n b'\n",
	"k: \"a\\\n\"\n":   "k: \"a\\\n \"\n",
	"k: [\na,\nb\n]\n": "k: [\n a,\n b\n ]\n",
	"k: {\na: b\n}\n":  "k: {\n a: b\n }\n",
	"k: [\n\ta\n]\n":   "k: [\n a\n ]\n",
	// Indicators where a scalar should be (sections 7.3.3 and 6.9.2).
	"k: &a c\nl: {*a: b}\n": "k: &a c\nl: {*a : b}\n",
}

// streams are whole documents that the readers take for something else, and
// what they mean.
var streams = map[string]string{
	"%YAML 1.1\n--- # a\n" + header + "k: yes\nl: 017\n": header + "k: yes\nl: 017\n",
	header + "k: v\n...\n...\n":                          header + "k: v\n",
}

// limits is what the specification allows and the parser of skills-mcp
// cannot read, and which section says so. It is refused, or read as Python's
// readers read it.
var limits = map[string]string{
	"k: {'a\n  b': c}\n":     "7.4.2: a key in a flow mapping may take several lines",
	"k: {a\n  b: c}\n":       "7.4.2: a key in a flow mapping may take several lines",
	"k: [!a, !b c]\n":        "6.9.1: a tag may stand before a flow indicator",
	"k: [!!str, !!str a]\n":  "6.9.1: a tag may stand before a flow indicator",
	"k: &a\"b c\nl: *a\"b\n": "6.9.2: an anchor's name may hold a quote",
	"k: [a:]\n":              "7.3.3: a colon before a flow indicator ends a key",
	"k: {a:, b}\n":           "7.3.3: a colon before a flow indicator ends a key",
	"k: [:a, ::, :]\n":       "7.3.3: a colon before a flow indicator ends a key",
}
