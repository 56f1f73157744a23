package policy

import (
	"cmp"
	"path"
	"strings"
)

// skillVariable begins a word of a command that begins with $SKILL_DIR, and
// stands for its value, which need not be known. No argument can hold a NUL.
const skillVariable = "\x00"

// location is where a command starts, and what programs call the skill's
// directory.
type location struct {
	inSkill  bool   // relative paths are the skill's; else the workspace's
	skillDir string // absolute, or empty where it is not known
}

func (r Request) location() location {
	if !path.IsAbs(r.SkillDir) {
		return location{inSkill: r.InSkill}
	}
	return location{inSkill: r.InSkill, skillDir: path.Clean(r.SkillDir)}
}

// skillPath returns the path, relative to the skill, that a word of a command
// names whatever the workspace holds, or nothing where there is none.
func (l location) skillPath(text string) string {
	rest, below := strings.CutPrefix(text, skillVariable)
	if !below && l.skillDir != "" {
		rest, below = strings.CutPrefix(text, l.skillDir)
		below = below && (rest == "" || rest[0] == '/')
	}
	switch {
	case below && rest == "":
		return "."
	case below:
		text = rest[1:]
	case l.inSkill:
		text = trimDotSlash(text)
	default:
		return ""
	}
	if !cleanRelative(text) {
		return ""
	}
	return text
}

// text returns a word as a literal pattern is compared with it.
func (l location) text(word string) string {
	if rest, ok := strings.CutPrefix(word, skillVariable); ok && l.skillDir != "" {
		return l.skillDir + rest
	}
	return normalize(word)
}

// plain reports whether the value of $SKILL_DIR is one word where it stands
// outside of quotes, too.
func (l location) plain() bool {
	return l.skillDir != "" && strings.Trim(l.skillDir, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == ""
}

// markSkillPaths marks the words of a pattern that name files of the skill: a
// program with a slash in it, the script of an interpreter, and for a program
// that runs others every word that looks like a path. A command starts in the
// workspace, where whoever ran before may have put a file of the same name.
func markSkillPaths(words []word) {
	program := &words[0]
	program.mark(strings.Contains(program.shown(), "/"))
	name := program.program()
	switch {
	case scriptRunners[name]:
		markScript(words[1:])
	case program.any || program.glob != "" || wrappers[name] || launchers[name] || evaluators[name] || runners[name]:
		for i := range words[1:] {
			words[1+i].mark(words[1+i].looksLikePath())
		}
	}
}

// markScript marks the script among an interpreter's arguments, and before it
// the values of options that look like paths. What follows are arguments of
// the script, and so are files of the workspace.
func markScript(arguments []word) {
	afterOption := false
	for i := range arguments {
		w := &arguments[i]
		isOption := strings.HasPrefix(w.shown(), "-")
		w.mark(w.looksLikePath() || i == 0 && !isOption && !w.any)
		if !isOption && !afterOption && !w.any {
			return
		}
		afterOption = isOption
	}
}

// mark makes a word, where wanted, one that only a path of the skill matches.
// An absolute one is what it is.
func (w *word) mark(wanted bool) {
	if wanted && !path.IsAbs(w.shown()) {
		w.skill, w.text, w.glob = true, trimDotSlash(w.text), trimDotSlash(w.glob)
	}
}

// shown returns the word as it is declared, but for quotes.
func (w word) shown() string {
	if w.glob != "" {
		return w.glob
	}
	return w.text
}

// program returns the name of the program that a word is, without a version.
func (w word) program() string {
	name := path.Base(w.shown())
	return cmp.Or(strings.TrimRight(name, "0123456789."), name)
}

// looksLikePath reports whether a word, or the value that an option has in it,
// is a relative path for its slash or its extension. Packages (@scope/name) and
// addresses are none.
func (w word) looksLikePath() bool {
	text := w.shown()
	if strings.HasPrefix(text, "-") {
		_, text, _ = strings.Cut(text, "=")
	}
	if w.any || text == "" || text[0] == '@' || path.IsAbs(text) {
		return false
	}
	first, _, slash := strings.Cut(text, "/")
	_, isScript := interpretersOf[path.Ext(text)]
	return slash && !strings.Contains(first, ":") || isScript
}
