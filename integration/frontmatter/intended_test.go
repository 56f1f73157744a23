package frontmatter

import (
	"regexp"
	"slices"
	"strings"
)

// intended is a kind of difference that is as it should be.
type intended struct {
	name string
	// because says why, and where that is written.
	because string
	readers []string
	// covers reports whether a difference is of this kind.
	covers func(d difference) bool
}

var (
	everybody = []string{javascript, core, ruamel, pyyaml}
	pythons   = []string{core, ruamel, pyyaml}
)

// What documents hold in which readers differ.
var (
	surrogate    = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)
	foreignTag   = regexp.MustCompile(`!!(?:binary|timestamp|set|omap|pairs|merge)\b`)
	wholeFloat   = regexp.MustCompile(`!!float [0-9]+(?:[\n,:\]} ]|$)`)
	notPrintable = regexp.MustCompile(`[^\t\n\r\x20-\x7e\x{85}\x{a0}-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]`)
	loneReturn   = regexp.MustCompile(`\r(?:[^\n]|$)`)
	escapedBreak = regexp.MustCompile(`\\\n[ \t]*\n`)
	aliasKey     = regexp.MustCompile(`(?m)^\*\w+ :`)
	flowKey      = regexp.MustCompile(`: .*[\]}]: `)
	flowAnchor   = regexp.MustCompile(`\[&\w+\n *,`)
	blockTab     = regexp.MustCompile(`[|>][-+0-9 ]*\t`)
	break11      = regexp.MustCompile(`[\x{85}\x{2028}\x{2029}]`)
	emptyTag     = regexp.MustCompile(`[\[{,] *!!?\w*\s*[,\]}]`)
	bareTag      = regexp.MustCompile(`(?:^|[ \[])! `)
	flowSigns    = regexp.MustCompile(`[\[{,] *(?:[?:][^ ]|'[^']*':[^ ]|"[^"]*":[^ ])`)
	flowQuestion = regexp.MustCompile(`[\[{][^\]}]*\?`)
	oddAnchor    = regexp.MustCompile(`&[0-9A-Za-z_-]*[^0-9A-Za-z_\-\s,\[\]{}]`)
)

// intendedDifferences is every way in which skills-mcp may differ from a
// reader. A difference that none of these covers is a fault, and so is one of
// these that covers nothing any more. A section is one of YAML 1.2.2.
var intendedDifferences = slices.Concat(faultsOfBoth, ourRefusals, ourLeniency, foreignTags, javascriptFaults, pythonFaults)

var ourRefusals = []intended{
	{
		"a key that is no string",
		"JSON has no such keys (RFC 8259, section 4); the readers turn them into strings, each in its own way, and skills-mcp takes scalars as they are written",
		everybody,
		func(d difference) bool {
			return (d.warned("yaml-key-scalar") || d.weRefuse("yaml-key-type")) && d.oddKey()
		},
	},
	{
		"a line break of YAML 1.1",
		"section 5.4: U+0085, U+2028 and U+2029 break no line; they do in Python's readers, so that what follows is a key to some",
		everybody,
		func(d difference) bool { return d.weRefuse("yaml-syntax") && d.matches(break11) },
	},
	{
		"a size bound",
		"64 KiB of YAML (frontmatter-size), 1 MiB with aliases resolved (yaml-alias), 64 levels (yaml-depth): one skill must not cost the others",
		everybody,
		func(d difference) bool {
			return d.weRefuse("frontmatter-size") && len(d.yaml) > 64<<10 ||
				d.weRefuse("yaml-alias") && len(d.yaml) > 16<<10 && strings.Contains(d.yaml, "*") ||
				d.weRefuse("yaml-depth") && d.javascript.depth > 64
		},
	},
	{
		"a skill without a usable name or description, or of a name that is taken",
		"the specification of skills; the same frontmatter is compared as the value of a key",
		everybody,
		func(d difference) bool {
			return d.foreign && d.weRefuse("name-missing", "name-unusable", "name-length", "name-taken", "description-missing", "frontmatter-type")
		},
	},
	{
		"a half of a pair of surrogates",
		"it is no character (Unicode, section 3.9), and JSON that holds it cannot be read everywhere",
		everybody,
		func(d difference) bool { return d.weRefuse("yaml-syntax") && d.matches(surrogate) },
	},
	{
		"what the parser cannot read",
		"rare YAML that it refuses or reads as Python's readers do: see the table limits",
		everybody,
		func(d difference) bool { return d.limit != "" && (d.weRefuse("yaml-syntax") || d.seconded()) },
	},
}

var ourLeniency = []intended{
	{
		"an unquoted colon",
		"the commonest fault in skills: read as the string that was meant, with the warning yaml-colon",
		everybody,
		func(d difference) bool { return d.theirs.refusal != "" && d.warned("yaml-colon") && d.asMeant() },
	},
	{
		"a fault that can mean one thing only",
		"the parser reads it as that, and so do most: see the table forgiven",
		everybody,
		func(d difference) bool { return d.theirs.refusal != "" && !d.warned("yaml-colon") && d.asMeant() },
	},
	{
		"a tag before a flow indicator",
		"section 6.9.1: its value is empty; the readers take the indicator for a part of the tag, or want a value",
		everybody,
		func(d difference) bool { return d.ours.refusal == "" && d.theirs.refusal != "" && d.matches(emptyTag) },
	},
}

var foreignTags = []intended{
	{
		"a tag that the reader knows and the core schema does not",
		"section 10.3 has seven tags; skills-mcp ignores others with the warning yaml-tag",
		everybody,
		func(d difference) bool { return d.warned("yaml-tag") && d.matches(foreignTag) },
	},
	{
		"a tag that the value does not fit, or that Python's readers do not know",
		"section 3.3.3 lets a reader go on, as skills-mcp does with the warning yaml-tag; Python's readers refuse it or convert the value",
		pythons,
		func(d difference) bool { return d.warned("yaml-tag") && d.seconded() },
	},
	{
		"the tag !",
		"section 6.9.1: it makes a scalar a string; Python's readers ignore it",
		pythons,
		func(d difference) bool { return d.matches(bareTag) && d.seconded() },
	},
	{
		"a whole number tagged !!float",
		"section 10.3.2: the pattern of floats matches it; JavaScript's reader gives a string",
		[]string{javascript},
		func(d difference) bool {
			return d.matches(wholeFloat) && d.seconded()
		},
	},
}

var javascriptFaults = []intended{
	{
		"a character that is not printable",
		"section 5.1: a reader must refuse it; JavaScript's does not",
		[]string{javascript},
		func(d difference) bool { return d.weRefuse("yaml-syntax") && d.matches(notPrintable) && d.seconded() },
	},
	{
		"a carriage return alone",
		"section 5.4: it breaks a line; not so in JavaScript's reader",
		[]string{javascript},
		func(d difference) bool { return d.matches(loneReturn) && d.seconded() },
	},
	{
		"an escaped line break before an empty line",
		"section 7.3.1: the empty line stays a line feed; JavaScript's reader drops it",
		[]string{javascript},
		func(d difference) bool { return d.matches(escapedBreak) && d.seconded() },
	},
	{
		"an alias as a key that is there already",
		"section 3.2.1.1: keys are unique; JavaScript's reader does not compare aliases",
		[]string{javascript},
		func(d difference) bool {
			return d.weRefuse("yaml-duplicate-key") && d.matches(aliasKey) && d.seconded()
		},
	},
	{
		"a collection with a colon behind it",
		"section 7.4: it would be a key inside of a value on one line; JavaScript's reader makes a key of nothing",
		[]string{javascript},
		func(d difference) bool { return d.weRefuse("yaml-syntax") && d.matches(flowKey) && d.seconded() },
	},
	{
		"an anchor at the end of a line in a flow collection",
		"section 6.9.2: its value is empty; JavaScript's reader looks for it behind the comma",
		[]string{javascript},
		func(d difference) bool {
			return d.theyRefuse("A node can have at most one anchor") && d.matches(flowAnchor) && d.seconded()
		},
	},
	{
		"a directive that must be refused",
		"section 6.8.1: another major version, two versions, or a directive without a document; JavaScript's reader lets them pass",
		[]string{javascript},
		func(d difference) bool {
			return d.weRefuse("yaml-syntax", "yaml-documents") && strings.Contains(d.yaml, "%YAML") && d.seconded()
		},
	},
}

var pythonFaults = []intended{
	{
		"a tab that separates",
		"section 6.2: white space may be tabs; Python's readers want spaces",
		pythons,
		func(d difference) bool {
			return (d.theyRefuse(`found character '\t' that cannot start any token`) ||
				d.theyRefuse("while scanning a block scalar") && d.matches(blockTab)) && d.seconded()
		},
	},
	{
		"a tab that indents",
		"section 6.1: indentation is spaces; Python's readers take tabs in flow collections",
		pythons,
		func(d difference) bool {
			return d.weRefuse("yaml-syntax") && strings.Contains(d.yaml, "\n\t") && d.seconded()
		},
	},
	{
		"a question mark or a colon in a flow collection",
		"sections 7.3.3 and 7.4.2: both may begin a plain scalar, and no space need follow a quoted key's colon; not so in Python's readers",
		pythons,
		func(d difference) bool {
			return (d.matches(flowSigns) || d.reader == pyyaml && d.theyRefuse("while parsing a flow") && d.matches(flowQuestion)) && d.seconded()
		},
	},
	{
		"an anchor's name",
		"section 6.9.2: it may hold any character but white space and flow indicators; PyYAML knows letters, digits, - and _",
		[]string{pyyaml},
		func(d difference) bool { return d.matches(oddAnchor) && d.seconded() },
	},
	{
		"an anchor that is used again",
		"section 3.2.2.2: the alias means the last one; PyYAML refuses it",
		[]string{pyyaml},
		func(d difference) bool { return d.theyRefuse("found duplicate anchor") && d.seconded() },
	},
}

var faultsOfBoth = []intended{
	{
		"%YAML 1.1",
		"section 6.8.1: such documents are read as if they were 1.2; the readers read them as 1.1",
		everybody,
		func(d difference) bool { return strings.HasPrefix(d.yaml, "%YAML 1.1\n") && d.asMeant() },
	},
	{
		"two document ends in a row",
		"section 9.2, production 211: they end one document; the readers see two",
		everybody,
		func(d difference) bool {
			return strings.HasSuffix(d.yaml, "\n...\n...\n") && d.theirs.refusal != "" && d.asMeant()
		},
	},
}
