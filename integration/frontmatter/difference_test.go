package frontmatter

import (
	"regexp"
	"slices"
	"strings"
)

// The readers that skills-mcp is compared with. Which resolution of tags they
// have, python/read.py says.
const (
	javascript = "yaml (JavaScript)"
	core       = "ruamel.yaml (Python) in the core schema"
	ruamel     = "ruamel.yaml (Python)"
	pyyaml     = "PyYAML"
)

// difference is what skills-mcp and one reader disagree about.
type difference struct {
	reading
	reader string
	theirs outcome
	what   string
}

// differences compares what skills-mcp made of a document with what each
// reader did that was asked.
func (r reading) differences() []difference {
	var found []difference
	for _, other := range []struct {
		reader string
		theirs outcome
		like   likeness
	}{
		{javascript, r.javascript, inJavaScript},
		{core, r.core, inPython},
		{ruamel, r.ruamel, inPython},
		{pyyaml, r.pyyaml, inPython},
	} {
		if what := r.ours.differs(other.theirs, other.like); other.theirs.asked && what != "" {
			found = append(found, difference{r, other.reader, other.theirs, what})
		}
	}
	return found
}

// differs says how two outcomes differ, or nothing.
func (o outcome) differs(theirs outcome, like likeness) string {
	switch {
	case o.refusal != "" && theirs.refusal != "":
		return ""
	case o.refusal != "":
		return "skills-mcp refuses it (" + strings.Join(o.rules, ", ") + ")"
	case theirs.refusal != "":
		return "the reader refuses it: " + theirs.refusal
	}
	return like.compare("", o.value, theirs.value)
}

// kind names the intended difference that this is, or returns nothing.
func (d difference) kind() string {
	for _, kind := range intendedDifferences {
		if slices.Contains(kind.readers, d.reader) && kind.covers(d) {
			return kind.name
		}
	}
	return ""
}

// weRefuse reports whether skills-mcp refuses for one of these rules what the
// reader reads.
func (d difference) weRefuse(rules ...string) bool {
	return d.theirs.refusal == "" && slices.Contains(rules, d.ours.refusal)
}

// theyRefuse reports whether the reader refuses, in words that contain these,
// what skills-mcp reads.
func (d difference) theyRefuse(words string) bool {
	return d.ours.refusal == "" && strings.Contains(d.theirs.refusal, words)
}

// warned reports whether skills-mcp reports this rule.
func (d difference) warned(rule string) bool { return slices.Contains(d.ours.rules, rule) }

// asMeant reports whether skills-mcp reads what the document means, as the
// JavaScript reader reads that.
func (d difference) asMeant() bool {
	return d.ours.refusal == "" && d.means != "" && d.ours.differs(d.meant, inJavaScript) == ""
}

// seconded reports whether another of the two readers that are asked for YAML
// 1.2 makes of the document what skills-mcp does.
func (d difference) seconded() bool {
	return d.reader != javascript && d.ours.differs(d.javascript, inJavaScript) == "" ||
		d.reader != core && d.ours.differs(d.core, inPython) == ""
}

// oddKey reports whether somebody saw a key that is no string.
func (d difference) oddKey() bool {
	return d.javascript.oddKeys > 0 || slices.ContainsFunc(d.core.odd, func(odd string) bool { return strings.HasSuffix(odd, " as a key") })
}

func (d difference) matches(pattern *regexp.Regexp) bool { return pattern.MatchString(d.yaml) }
