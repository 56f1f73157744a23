package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const maxPatternWords = 64

// commandPattern is the pattern of an executing entry; the package comment
// has its grammar.
type commandPattern struct {
	words []word // at least one
	open  bool   // any further arguments may follow
}

// word is one word of a command pattern.
type word struct {
	any bool // an asterisk alone
	// skill words name files of the skill, by a path relative to it.
	skill bool
	glob  string // for path.Match, where an asterisk is part of the word
	text  string // without quotes, as normalize returns it, where neither any nor glob is set
}

// parseCommandPattern reads a pattern; fault is empty where it is usable.
func parseCommandPattern(text string) (p commandPattern, fault string) {
	// `:*` is another way to write ` *`, at the end only.
	if head, ok := strings.CutSuffix(text, ":*"); ok && !strings.HasSuffix(head, `\`) {
		text = head + " *"
	}
	p.words, fault = splitWords(text)
	if fault != "" {
		return p, fault
	}
	if len(p.words) > maxPatternWords {
		return p, fmt.Sprintf("more than %d words", maxPatternWords)
	}
	last := p.words[len(p.words)-1]
	switch {
	case last.any && !slices.ContainsFunc(p.words[:len(p.words)-1], func(w word) bool { return w.any }):
		// With another lone asterisk before it, a last one is one or more
		// arguments like that; alone, it is none or more.
		p.words, p.open = p.words[:len(p.words)-1], true
	case strings.HasSuffix(last.glob, "*") && !strings.HasSuffix(last.glob, `\*`):
		p.open = true
	}
	if len(p.words) == 0 {
		return p, "no program before the asterisk"
	}
	if slices.ContainsFunc(p.words, func(w word) bool { return namesPrivateDir(w.shown()) }) {
		return p, privateDir + ", which belongs to the sandbox"
	}
	markSkillPaths(p.words)
	return p, ""
}

// runsAny reports whether the pattern leaves open what its program runs: none
// of its words but options, assignments and durations stands before that.
func (p commandPattern) runsAny() bool {
	name := p.words[0].program()
	if !p.words[0].any && !wrappers[name] && !launchers[name] && !interpreters[name] && !scriptRunners[name] {
		return false
	}
	for _, w := range p.words[1:] {
		text := w.shown()
		if w.any {
			return true
		}
		if !strings.HasPrefix(text, "-") && !strings.Contains(text, "=") && !isDuration(text) {
			return false
		}
	}
	return p.open
}

// match holds the pattern against one command. A lone asterisk takes as few
// words as it can and one more at every failure; only the last one needs to
// be tried again.
func (p commandPattern) match(argv []token) bool {
	if len(argv) == 0 || !p.words[0].match(argv[0]) {
		return false
	}
	lastExact := 0
	for i, t := range argv {
		if t.exact {
			lastExact = i
		}
	}
	i, j := 1, 1             // the next word and token
	retryWord, retry := 0, 0 // after the last asterisk, and the token it takes next
	for j < len(argv) {
		switch {
		case i < len(p.words) && p.words[i].match(argv[j]):
			if p.words[i].any {
				retryWord, retry = i+1, j+1
			}
			i, j = i+1, j+1
		case i == len(p.words) && p.open && j > lastExact:
			return true
		case retryWord > 0 && !argv[retry].exact:
			retry++
			i, j = retryWord, retry
		default:
			return false
		}
	}
	return i == len(p.words)
}

// match holds the word against one token.
func (w word) match(t token) bool {
	switch {
	case w.any:
		return !t.exact
	case w.glob == "" && w.skill:
		return w.text == t.skill
	case w.glob == "":
		return w.text == t.text || strings.Contains(w.text, "/") && trimDotSlash(w.text) == t.skill
	case t.exact:
		return false
	}
	// A pattern for files must not take an option.
	if strings.HasPrefix(t.text, "-") && !strings.HasPrefix(w.glob, "-") {
		return false
	}
	ours := t.skill != "" && (w.skill || strings.Contains(w.glob, "/")) && matchGlob(w.glob, t.skill)
	return ours || !w.skill && matchGlob(w.glob, t.text)
}

// matchGlob holds a pattern against a text. One with a slash matches only clean
// relative paths.
func matchGlob(glob, text string) bool {
	if strings.Contains(glob, "/") && !cleanRelative(trimDotSlash(text)) {
		return false
	}
	matched, err := path.Match(glob, text)
	return err == nil && matched
}

// normalize takes a leading "./" off a path for which it makes no difference:
// where no slash follows, it makes a file of what is a program on PATH without.
func normalize(text string) string {
	if short := trimDotSlash(text); strings.Contains(short, "/") {
		return short
	}
	return text
}

// splitWords splits a pattern as a shell splits a command, except that only
// quotes, backslashes and asterisks mean anything in it.
func splitWords(text string) (words []word, fault string) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var w word
		if w, text, fault = nextWord(text); fault != "" {
			return nil, fault
		}
		words = append(words, w)
	}
	return words, ""
}

// nextWord reads the word that text begins with, and returns what follows it.
func nextWord(text string) (w word, rest, fault string) {
	var b wordBuilder
	var quoted byte
	i := 0
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted == '\'' && c != '\'':
			b.literal(c)
		case c == '\\' && i+1 < len(text) && (quoted == 0 || strings.IndexByte("\"\\$`", text[i+1]) >= 0):
			i++
			b.literal(text[i])
		case c == '\\' && quoted == 0:
			return w, "", "a backslash at its end"
		case quoted != 0 && c == quoted:
			quoted = 0
		case quoted != 0:
			b.literal(c)
		case c == '\'' || c == '"':
			quoted = c
		case c == '*':
			b.asterisk()
		case strings.IndexByte("$`", c) >= 0:
			return w, "", fmt.Sprintf("an unquoted %c: variables and substitutions are not expanded; "+
				"write the skill's own paths relative, as in scripts/run.py", c)
		case strings.IndexByte("|&;<>", c) >= 0:
			return w, "", fmt.Sprintf("an unquoted %c: list each command as an entry of its own, and files that "+
				"redirects may write as Write(pattern)", c)
		case c == ' ':
			w, fault = b.word()
			return w, text[i:], fault
		default:
			b.literal(c)
		}
	}
	if quoted != 0 {
		return w, "", "an unbalanced quote"
	}
	w, fault = b.word()
	return w, "", fault
}

// wordBuilder keeps a word both as it is and as a pattern for path.Match in
// which only unquoted asterisks are special.
type wordBuilder struct {
	text, glob strings.Builder
	asterisks  int
}

func (b *wordBuilder) literal(c byte) {
	b.text.WriteByte(c)
	if strings.IndexByte(`*?[\`, c) >= 0 {
		b.glob.WriteByte('\\')
	}
	b.glob.WriteByte(c)
}

func (b *wordBuilder) asterisk() {
	b.text.WriteByte('*')
	b.glob.WriteByte('*')
	b.asterisks++
}

func (b *wordBuilder) word() (w word, fault string) {
	glob := b.glob.String()
	switch {
	case b.asterisks == 0:
		return word{text: normalize(b.text.String())}, ""
	case glob == "*":
		return word{any: true}, ""
	case strings.HasPrefix(glob, "/"), strings.HasPrefix(glob, "~"):
		return w, "an asterisk in a path that is not relative"
	}
	return word{glob: normalize(glob)}, ""
}
