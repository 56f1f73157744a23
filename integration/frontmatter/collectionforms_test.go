package frontmatter

// anchorForms have anchors, aliases and merge keys.
var anchorForms = []string{
	"k: &a b\nl: *a\n", "k: &a [b]\nl: *a\n", "k: &a {b: c}\nl: *a\n", "k: &a\n  b: c\nl: *a\n",
	"k: &a\n- b\nl: *a\n", "k: &a\n  - b\nl: [*a, *a]\n", "k: &a |\n  b\nl: *a\n", "k: &a\nl: *a\n",
	"k: &a 12\nl: *a\nm: [*a]\nn: {o: *a}\n", "k: &a b\nl: &a c\nm: *a\n", "&a k: b\nl: *a\n",
	"&a k: &b c\n*a : d\n", "&a k: b\nl: {*a : d}\n", "k: *a\n", "k: &a [*a]\n", "k: &a {b: *a}\n",
	"k: &a b\nl: *a c\n", "k: &a &b c\n", "k: &a-b c\nl: *a-b\n", "k: &a_1 c\nl: *a_1\n", "k: &1 c\nl: *1\n",
	"k: &a.b c\nl: *a.b\n", "k: &a/b c\nl: *a/b\n", "k: &a:b c\nl: *a:b\n", "k: &a! c\nl: *a!\n", "k: &* c\nl: **\n", "k: & c\n", "k: &a*b c\n",
	"k: &a c\nl: *a#b\n", "k: &a c\nl: *a #b\n", "k: &a c\nl: [*a,*a]\n", "k: &a c\nl: {b: *a,d: *a}\n",
	"k: [&a b, *a, &c {d: *a}, *c]\n", "l:\n- &a b\n- *a\n- &c\n  d: e\n- *c\n", "l:\n- &a\n- *a\n",
	"k: *a\nl: &a b\n", "k: &a b\nl: !!str *a\n", "k: &a !!str 1\nl: *a\n", "k: !!str &a 1\nl: *a\n",
	"k: &a !!map {b: c}\nl: *a\n", "k: !!seq &a [b]\nl: *a\n", "k: &a {b: &b [c, &c d]}\nl: [*a, *b, *c]\n",
	"k: &a a\nl: &b [*a]\nm: &c [*b, *b]\nn: [*c, *c]\n", "k: &a\n  b: c\nl:\n  <<: *a\n  d: e\n",
	"k: &a {b: c}\nl: {<<: *a, b: d}\n", "k: &a {b: c}\nl:\n  <<: [*a, *a]\n", "<<: a\n", "<<: {k: v}\n",
	"k:\n  <<: {a: b}\n  <<: {c: d}\n", "k: <<\n", "'<<': {k: v}\n", "\"<<\": v\n",
	"k: &a\n  <<: b\nl:\n  <<: *a\n",
}

// blockForms are block collections and their keys.
var blockForms = []string{
	"k:\n  l:\n    m: n\n", "k:\n l:\n  m: n\n o: p\n", "k:\n- a\n- b\n", "k:\n  - a\n  - b\n",
	"k:\n  -\n    a\n  - b\n", "k:\n- - a\n  - b\n- - c\n", "k:\n-  - a\n   - b\n",
	"k:\n- a: b\n  c: d\n- e: f\n", "k:\n-   a: b\n    c: d\n", "k:\n- a:\n  - b\n  c: d\n",
	"k:\n- a:\n    - b\n", "k:\n-\n- a\n-\n", "k:\n- \n- a\n", "k:\n-\n  a: b\n", "k:\n-\n  - a\n",
	"k:\n-\t- a\n", "k:\n-\ta\n", "k:\n- \ta: b\n", "k:\n- a\n - b\n", "k:\n  - a\n - b\n",
	"k:\n  a: b\n c: d\n", "k:\n    a: b\n  c: d\n", "k: - a\n", "- k: a\n", "k:\n-a\n", "k:\n  a\n  b: c\n",
	"k: a\n l: b\n", " k: a\n", "k:\tv\n", "k: \tv\n", "k:\t\n  v\n", "k :\tv\n", "k : v\n", "k  : v\n", "k:\n",
	"k:\nl:\n", "k: \n\nl: a\n", "k:\n\n\n  - a\n\n\n  - b\n\n\n", "k:\n  l:\n  m:\n", "k: v\nk: w\n",
	"k: {a: 1, a: 2}\n", "k: v\n'k': w\n", "k: {a: 1, \"a\": 2}\n", "k:\n  - a\nl:\n- b\n", "a b c: d\n",
	"a:b: c\n", "a-b: c\n", "a.b: c\n", "a/b: c\n", "a#b: c\n", "a[0]: c\n", "a{b}: c\n", "a,b: c\n", "$a: b\n",
	"a'b: c\n", "a\"b: c\n", "(a): b\n", "ключ: b\n", "😀: b\n", "é: b\n", "'a b': c\n", "\"a b\": c\n",
	"'a: b': c\n", "\"a\\nb\": c\n", "'': a\n", "\"\": a\n", "'a''b': c\n", "'a' : b\n", "'a':b\n", "\"a\":b\n",
	"a: 'b': c\n", "a: \"b\": c\n", "a: b :c\n", "__proto__: a\n", "k: {__proto__: {a: b}}\n",
	"constructor: a\ntoString: b\n", "'10': a\n'2': b\nx: c\n'1': d\n",
	"k: {'10': a, y: b, '2': c, '01': d, '-1': e, '1.5': f}\n",
}

// keyForms have keys that look like something else.
var keyForms = []string{
	"1: a\n", "1.5: a\n", "true: a\n", "null: a\n", "~: a\n", ": a\n", "yes: a\n", "on: a\n", "no: a\n",
	"y: a\n", "2024-01-01: a\n", "12:30: a\n", "0x10: a\n", "0b1: a\n", "1_0: a\n", "'1': a\n", "\"true\": a\n",
	"'null': a\n", "'~': a\n", "!!str 1: a\n", "! 1: a\n", ".inf: a\n", "=: a\n", "<: a\n", "-a: b\n", "-: a\n",
	"?a: b\n", "?: a\n", ":a: b\n", "::: a\n", "*a: b\n", "&a: b\n", "!a: b\n", "[a]: b\n", "{a: b}: c\n",
	"[]: b\n", "k: {[a]: b}\n", "k: {1: a, 1.0: b}\n", "? [a]\n: b\n", "? {a: b}\n: c\n", "? |\n  a\n: b\n",
	"? - a\n: b\n", "? a: b\n: c\n", "k: {? [a] : b}\n",
}

// explicitForms have keys that a question mark announces.
var explicitForms = []string{
	"? a\n: b\n", "? a\n", "? a\n:\n", "?\n: b\n", "? a\n? b\n: c\n", "? 'a'\n: 'b'\n", "? a\n  b\n: c\n",
	"? a\n: - b\n  - c\n", "? a\n: b: c\n", "? a\n:  b\nc: d\n", "a: b\n? c\n: d\ne: f\n",
	"k:\n  ? a\n  : b\n  ? c\n", "? >-\n  a\n  b\n: c\n", "? a\n\n: b\n", "? a\n# c\n: b\n",
	"? !!str 1\n: b\n", "? &a b\n: *a\n", "k: {? a : b, ? c, ?d: e, ? f: g}\n", "k: [? a : b, ? c]\n",
	"k: {?a: b}\n", "k: [?a]\n", "k: {? : b}\n", "? \"a\\\n  b\"\n: c\n", "k:\n- ? a\n  : b\n  c: d\n",
	"? 12\n: b\n", "?\n  a\n:\n  b\n", "? a\n:\n- b\n", "? a\n:\n  - b\n",
}

// flowForms are flow collections.
var flowForms = []string{
	"k: []\n", "k: {}\n", "k: [ ]\n", "k: { }\n", "k: [\n]\n", "k: [\n  ]\n", "k: {\n  }\n", "k: [a]\n",
	"k: [a,]\n", "k: [a, ]\n", "k: [,]\n", "k: [a,,b]\n", "k: [,a]\n", "k: {a,}\n", "k: {,}\n", "k: {a: b,}\n",
	"k: {a: b,,}\n", "k: [a b, c d]\n", "k: [a, [b, [c, []]], {}]\n", "k: {a: {b: {c: {}}}}\n",
	"k: [{a: b}, {c: d}]\n", "k: [a: b]\n", "k: [a: b, c: d]\n", "k: [a: b, c]\n", "k: [a : b]\n",
	"k: ['a': b]\n", "k: ['a':b]\n", "k: [\"a\":b]\n", "k: [a:b]\n", "k: [a: ]\n", "k: [: a]\n", "k: [: ]\n",
	"k: {a: b, c}\n", "k: {a, b}\n", "k: {a: , b: }\n", "k: {a:b}\n", "k: {a :b}\n", "k: {'a':b}\n",
	"k: {\"a\":1}\n", "k: {\"a\":[1,2],\"b\":{\"c\":null}}\n", "k: {\"a\" :1}\n", "k: {\"a\"\n:1}\n",
	"k: {a\n: b}\n", "k: {a:\n  b}\n", "k: {: b}\n", "k: {a: b}c\n", "k: [a]b\n", "k: [a] b\n", "k: [a] # b\n",
	"k: [a, b\n", "k: {a: b\n", "k: a]\n", "k: [a]]\n", "k: [a}\n", "k: {a]\n", "k: [a\n  b, c]\n",
	"k: [a\n\n  b]\n", "k: [\n  a,\n  b\n  ]\n", "k: [\n  a,\n]\n", "k: [a,\n b,\n c]\n", "k:\n  [a, b]\n",
	"k:\n  {a: b}\n", "k:\n[a, b]\n", "l:\n- [a, b]\n- {c: d}\n", "k: [a, 'b, c', \"d, e\"]\n",
	"k: ['a' , \"b\" ]\n", "k: ['a''b']\n", "k: ['a\n  b']\n", "k: [\"a\n  b\"]\n", "k: [a\n  b: c]\n",
	"k: [http://a.b/c?d=e, f]\n", "k: [a?, ?b]\n", "k: [-a, -1, - a]\n", "k: [--- ]\n", "k: [a#b, c]\n",
	"k: [a #b, c\n  , d]\n", "k: [*]\n", "k: [&a]\n", "k: [!!str , a]\n", "k: [&a , *a ]\n", "k: [%a]\n",
	"k: [@a]\n", "k: [`a`]\n", "k: [|]\n", "k: [>a]\n", "k: [a|b, a>b]\n", "k: [\ta,\tb\t]\n",
	"k: {\ta:\tb\t}\n", "k: [\n\ta,\n\tb\n\t]\n", "k: {\n\ta: b\n\t}\n", "k: [a, b]: c\n", "k: {a: b}: c\n",
	"k: [null, ~, , true]\n", "k: [1, 1.5, 0x1, 0o7, .5, .inf]\n", "k: {a: 1, b: true, c: null, d: ~, e: , f}\n",
	"k: !!set {a, b}\n", "k: !!omap [a: b]\n", "k: !!map {a: b}\n", "k: !!seq [a]\n", "k: !!map [a]\n",
	"k: !!seq {a: b}\n", "k: !!str [a]\n", "k: !custom [a]\n", "k: !custom {a: b}\n", "k: !custom\n  a: b\n",
	"k: !custom\n- a\n", "k: ! [a]\n", "k: ! {a: b}\n", "k: !!set\n  ? a\n  ? b\n", "k: !!pairs [a: b, a: c]\n",
	"!!map\nk: v\n", "!custom\nk: v\n", "&a\nk: v\n", "--- !!map\nk: v\n",
}

// streamForms have marks that end a document.
var streamForms = []string{
	"k: v\n...\n", "k: v\n...\n# a\n", "k: v\n... # a\n", "k: v\n...\nl: w\n", "k: v\n--- # a\nl: w\n",
	"k: v\n--- \t# a\n", "k: v\n---l: w\n", "k: v\n....\n", "k: v\n ...\n", "k: v\n  ...\n", "k: v\n...a\n",
	"k: |\n  a\n...\n", "k: 'a\n...\n  b'\n", "k: a\n...\n", "k: v\n...\n%YAML 1.2\n", "k: v\n# a\n...\n",
}
