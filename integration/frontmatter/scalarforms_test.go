package frontmatter

// plainForms are plain scalars over several lines.
var plainForms = []string{
	"k: a\n  b\n", "k: a\n  b\n\n  c\n", "k:\n  a\n  b\n", "k:\n\n  a\n\n\n  b\n", "k: a\n   b\n  c\n",
	"k: a \n  b \n", "k: a\n b\n", "k: a\nb\n", "k: a\n  # c\n  b\n", "k: a # c\n  b\n", "k: a\n  b # c\n",
	"k: a\n  - b\n", "k: a\n  b: c\n", "k: a\n  'b\n", "k: a\n  b:c\n", "k: a\n  *b &c !d\n", "k: 1\n  2\n",
	"k: true\n  false\n", "l:\n- a\n  b\n", "l:\n- a\n b\n", "l:\n- a\n\n  b\n", "k: a\n  b:\n", "k: a\n\tb\n",
	"k: a\n  \tb\n", "k: a\n\n\tb\n",
}

// quotedForms are quoted scalars over several lines.
var quotedForms = []string{
	"k: 'a\n  b'\n", "k: 'a\n\n  b'\n", "k: 'a\n  \n  b'\n", "k: ' a \n  b '\n", "k: '\n  a\n  '\n",
	"k: \"a\n  b\"\n", "k: \"a\\\n  b\"\n", "k: \"a \\\n  b\"\n", "k: \"a\\\n  \\ b\"\n", "k: \"a\\n\n  b\"\n",
	"k: \"a\n\n\n  b\"\n", "k: \"\n  a\n\n  \"\n", "k: \"a\t\n  \tb\"\n", "k: \"a\\\n\n  b\"\n", "k: 'a\n b'\n",
	"k: \"a\n b\"\n", "k: \"a\\t\n  b\"\n", "k: \"a\\  \n  b\"\n", "k: 'it''\n  s'\n", "k: \"# a\n  # b\"\n",
	"k: 'a: b\n  c: d'\n", "k: \"a\\\\\n  b\"\n", "'a\n  b': c\n", "\"a\n  b\": c\n",
}

// commentForms have comments in every place.
var commentForms = []string{
	"# a\nk: b\n", "k: b\n# a\n", "k: b # a\n", "k: b\t# a\n", "k: b# a\n", "k: # a\n  b\n", "k: # a\n",
	"k:\n  # a\n  b: c\n", "k:\n# a\n  b: c\n", "k:\n    # a\n  b: c\n", "k:\n  b: c\n # a\nl: d\n",
	"l:\n# a\n- b\n  # c\n- d\n", "l:\n- # a\n  b\n", "l:\n- a # b\n- c\n", "k: [a, # b\n  c]\n",
	"k: [ # a\n  b\n  # c\n  , d ]\n", "k: { a: b, # c\n  d: e }\n", "k: 'a' # b\n", "k: &a # c\n  b\n",
	"k: !!str # c\n  b\n", "k: | # a\n  b\n", "k: |\n  b\n # a\n", "k: |\n  b\n# a\nl: c\n",
	"k: |\n  b\n  # a\nl: c\n", "#\nk: b\n#a\n", "k: b #\n", "k: #a\n", "? # a\n  k\n: # b\n  v\n",
	"k: b\n\n\n# a\n\n\nl: c\n", "\t# a\nk: b\n", "k: b\n\t# a\nl: c\n", "k: b\n\t\nl: c\n",
	"k:\n\n  b: c\n\n\n", "k: '#a'\n", "k: a #b #c\n",
}

// characterForms have characters that mean something, or must not be there.
var characterForms = []string{
	"k: a\u0085b\n", "k: a\u2028b\n", "k: a\u2029 b\n", "k: a\ufeffb\n", "k: \ufeffa\n", "k: a\u0085\nl: b\n",
	"k: \u2028\n", "k: a\u2028\n  b\n", "a\u2028b: c\n", "# a\u2028b: c\nk: v\n", "# a\u0085k: v\nk: w\n",
	"k: |\n  a\u2028b\n  \u0085\n", "k: 'a\u2028b'\n", "k: [a\u2028, b]\n", "k: a\u00a0\n", "k:\u00a0a\n",
	"\u00a0k: a\n", "k: a\u3000b\n", "k: \u200ba\n", "k: a\x00b\n", "k: a\x01b\n", "k: a\x1bb\n", "k: a\x7fb\n",
	"k: a\u0080b\n", "k: a\u009fb\n", "k: \"a\x01b\"\n", "k: 'a\x7fb'\n", "# a\x01b\nk: v\n", "k: a\ufffeb\n",
	"k: a\uffffb\n", "k: a\ufffdb\n", "k: a\U0001ffffb\n", "k: \U0010ffff\n", "k: \ue000\U000f0000\U000f0001\n",
	"k: \"\U000f0000\\u2028\u2028\\/\"\n", "k: a\rb\n", "k: a\r\rb\n", "k: 'a\rb'\n", "k: a\fb\n", "k: a\vb\n",
	"k: \u202ea\u202cb\n", "k: e\u0301\nl: é\n", "k: \xff\n", "k: a\xed\xa0\x80b\n", "\ufeffk: a\n",
}

// escapeForms have escapes and continued lines.
var escapeForms = []string{
	"k: \"\\x41\\u0042\\U00000043\"\n", "k: \"\\\n  a\"\n", "k: \"a\\ \\\n  b\"\n",
	"k: \"\\u00e9\\ud83d\\ude00\"\n", "k: \"\\ud83d \\ude00\"\n", "k: \"\\ud83d\\u0041\"\n", "k: \"a\\\"b\"\n",
	"k: \"a\\\"\n", "k: \"a\n", "k: 'a\n", "k: 'a'b\n", "k: \"a\"b\n", "k: 'a' 'b'\n", "k: 'a', b\n",
	"k: \"a\" b: c\n", "k: \"a\\\\\"\n", "k: '\\'\n", "k: \"\\/\\\\/\"\n",
}
