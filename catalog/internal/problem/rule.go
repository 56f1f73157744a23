package problem

import "slices"

// Rule is one thing that roots, skills, archives and tools.json files are
// held to.
type Rule struct {
	// Name is stable and in kebab case.
	Name string
	// Lenient and Strict are what breaking it costs without and in
	// the strict mode.
	Lenient, Strict Severity
	// Hint says how to repair it.
	Hint string
}

// Mode says how much is an error.
type Mode int

// The modes, each of which excludes what those before it do.
const (
	// Lenient excludes what cannot be used.
	Lenient Mode = iota
	// Spec excludes what breaks the specification in its name or description too.
	Spec
	// Strict excludes what the reference validator rejects.
	Strict
)

// In returns what breaking the rule costs in a mode.
func (rule Rule) In(mode Mode) Severity {
	switch {
	case mode == Strict:
		return rule.Strict
	case mode == Spec && slices.Contains(ofSpec, rule.Name):
		return Error
	}
	return rule.Lenient
}

// ofSpec are the rules about what every skill must have, which lenient readers
// forgive.
var ofSpec = []string{"entry-lowercase", "entry-case", "name-type", "name-format", "name-directory", "description-length", "description-type"}

// Rules returns every rule, in the order of the documentation. The caller may
// change the slice.
func Rules() []Rule { return slices.Clone(rules) }

// In the strict column a rule is an Error wherever the reference validator,
// skills-ref, rejects the skill. In the lenient one it is a Warning wherever
// the skill can still be used as its author meant it.
var rules = []Rule{
	{"root-missing", Error, Error, "create the directory, or correct the path of the root"},
	{"root-unreadable", Error, Error, "give the server's user the right to read and search it"},
	{"root-type", Error, Error, "name a directory, or an archive that ends in .skill or .zip"},
	{"root-duplicate", Warning, Warning, "name each root once"},
	{"directory-unreadable", Error, Error, "give the server's user the right to read and search it"},
	{"directory-depth", Warning, Warning, "move skills to at most eight levels below the root"},
	{"scan-limit", Error, Error, "name roots that hold skills and little else"},
	{"skill-limit", Error, Error, "raise maxSkills, or name fewer roots or such as hold fewer skills"},
	{"file-name", Warning, Warning, "rename it; it can look like another name, and breaks lines and terminals that show it"},
	{"link-broken", Warning, Warning, "remove the symbolic link, or correct its target"},
	{"link-loop", Warning, Warning, "remove the symbolic link"},
	{"watch-limit", Warning, Warning, "raise the limit (on Linux: sysctl fs.inotify.max_user_watches and fs.inotify.max_user_instances), or name smaller roots"},

	{"entry-lowercase", Warning, Warning, "rename the file to SKILL.md"},
	{"entry-case", Warning, Error, "rename the file to SKILL.md"},
	{"entry-twice", Warning, Warning, "keep one of them, named SKILL.md"},
	{"entry-type", Error, Error, "make it a regular file"},
	{"entry-link", Error, Error, "put the file itself into the skill directory; links that leave it are not followed"},
	{"entry-unreadable", Error, Error, "give the server's user the right to read it"},
	{"pack-entry", Error, Error, "begin SKILL.md, README.md or the configured entry document with frontmatter that has name and description"},
	{"pack-entry-skipped", Warning, Warning, "begin it with frontmatter, or remove it"},
	{"pack-root", Warning, Warning, "name the root pack:PATH, or set pack: true for it; or rename the file to SKILL.md"},
	{"entry-missing", Warning, Warning, "add SKILL.md, which begins with name and description between two lines ---; or move the directory out of the root"},

	{"encoding", Error, Error, "save the file as UTF-8"},
	{"body-encoding", Warning, Error, "save the file as UTF-8"},
	{"byte-order-mark", None, Error, "save the file as UTF-8 without a byte-order mark"},
	{"frontmatter-missing", Error, Error, "begin the file with a line ---, then name and description, then a line ---"},
	{"frontmatter-blank-lines", Warning, Error, "remove the blank lines before the first ---"},
	{"frontmatter-unclosed", Error, Error, "end the frontmatter with a line that is exactly ---"},
	{"frontmatter-hyphens", None, Error, "write --- in no value or comment of the frontmatter; some readers end it there"},
	{"frontmatter-size", Error, Error, "keep the frontmatter below 64 KiB; long text belongs into the body"},
	{"frontmatter-type", Error, Error, "write the frontmatter as lines of key: value"},

	{"yaml-syntax", Error, Error, "correct the YAML; quote values that hold punctuation"},
	{"yaml-colon", Warning, Error, "put the value into quotes"},
	{"yaml-documents", Error, Error, "keep one YAML document between the two --- lines"},
	{"yaml-duplicate-key", Error, Error, "keep one of the two"},
	{"yaml-key-type", Error, Error, "make the key a string"},
	{"yaml-key-scalar", Warning, Warning, "quote the key, so that every reader takes it for the same string"},
	{"yaml-alias", Error, Error, "write the value out instead of using anchors and aliases"},
	{"yaml-subset", None, Error, "quote it where it is text; else write block mappings and sequences, without anchors and merge keys"},
	{"yaml-depth", Error, Error, "nest values less deeply"},
	{"yaml-tag", Warning, Error, "remove the tag"},
	{"yaml-number", Warning, Warning, "quote the value; JSON has no such number"},

	{"name-missing", Error, Error, "add name: with the name of the skill's directory"},
	{"name-unusable", Error, Error, "use lowercase letters, digits and hyphens"},
	{"name-length", Error, Error, "use at most 64 characters"},
	{"name-type", Warning, Warning, "quote the name, so that every reader takes it for a string"},
	{"name-format", Warning, Error, "use lowercase letters, digits and single hyphens, none at the edges"},
	{"name-directory", Warning, Error, "give the directory and the skill the same name"},
	{"name-taken", Error, Error, "rename one of the two skills"},
	{"description-missing", Error, Error, "add description: with what the skill does and when to use it"},
	{"description-length", Warning, Error, "shorten it to 1024 characters; the rest belongs into the body"},
	{"description-type", Warning, Warning, "write the description as one string"},
	{"license-type", Warning, Warning, "write the license as one string"},
	{"compatibility-length", Warning, Error, "shorten it to 500 characters"},
	{"compatibility-empty", Warning, Warning, "say what the skill needs, or remove the key"},
	{"compatibility-type", Warning, Error, "write the compatibility as one string"},
	{"metadata-type", Warning, Warning, "write metadata as a mapping of strings to strings"},
	{"metadata-value", Warning, Warning, "quote the value, so that every reader takes it for a string"},
	{"allowed-tools-type", Warning, Warning, "write allowed-tools as a string or a list of strings; what is neither grants nothing"},
	{"allowed-tools-spelling", Warning, Error, "spell the key allowed-tools"},
	{"allowed-tools-twice", Warning, Error, "keep allowed-tools only"},
	{"allowed-tools-key", Warning, Error, "spell the key allowed-tools; misspelled it grants nothing"},
	{"allowed-tools-empty", Warning, Warning, "name the tools, or remove the key so that the skill may use those that the configuration allows"},
	{"unknown-key", Warning, Error, "move it under metadata, or correct its spelling"},
	{"extension-key", Warning, Error, "keep it if your hosts know the key, and others ignore it; for the reference validator take it out"},

	{"archive-format", Error, Error, "pack the skill again, as a plain ZIP file"},
	{"archive-limit", Error, Error, "pack fewer or smaller files"},
	{"archive-name", Error, Error, "use relative slash-separated names without .., control characters and those that change the direction of writing"},
	{"archive-duplicate", Error, Error, "give every file one name, not only differing in case"},
	{"archive-link", Error, Error, "pack regular files and directories only"},
	{"archive-empty", Warning, Warning, "pack a directory that holds SKILL.md, or move the file out of the root"},

	// A scan does not look for what follows; skills-mcp list does, and validate.
	{"allowed-tools-entry", Warning, Warning, "correct the entry; until then it grants nothing"},
	{"allowed-tools-any", Warning, Warning, "name what it is to run, as in Bash(timeout 60 scripts/run.py:*); or write Bash, which says what it grants"},
	{"extension-limit", Warning, Warning, "move what the skill does not need elsewhere; the tools serve it all the same"},
	{"extension-entry", Warning, Warning, "write it as the specification has it, allowed-tools as one string with spaces between its entries; the tools serve the skill all the same"},
	{"line-endings", Warning, Warning, "end lines in LF; a .gitattributes with \"* text eol=lf\" keeps them so"},
	{"tools-unreadable", Error, Error, "make tools.json a regular file inside the skill directory"},
	{"tools-size", Error, Error, "keep tools.json below 256 KiB"},
	{"tools-syntax", Error, Error, "write a JSON object {\"tools\": [...]} or a JSON array of tools"},
	{"tools-key", Warning, Warning, "use name, description, inputSchema, run, cwd and timeoutMs"},
	{"tools-name", Error, Error, "use 1 to 64 letters, digits, underscores and hyphens"},
	{"tools-duplicate", Error, Error, "give every tool a name of its own"},
	{"tools-description", Warning, Warning, "say what the tool does and when to use it"},
	{"tools-schema", Error, Error, "make inputSchema a valid JSON Schema with type: \"object\""},
	{"tools-argv", Error, Error, "make run a list of strings that begins with a program's name or a script's relative path"},
	{"tools-script", Warning, Warning, "begin run with the script's path; its interpreter comes from its shebang or extension"},
	{"tools-placeholder", Warning, Warning, "name a property of inputSchema; a program's text, as of sh -c, is given values as arguments"},
	{"tools-option", Warning, Warning, "say in inputSchema what the property may be: enum, const, a pattern that begins with ^, or a type other than string"},
	{"tools-cwd", Error, Error, "write workspace or skill, or remove it"},
	{"tools-timeout", Error, Error, "give whole milliseconds from 1 to 86400000"},
}

// Lookup returns the rule of that name. It panics where there is none.
func Lookup(name string) Rule {
	rule, known := Find(name)
	if !known {
		panic("no rule " + name)
	}
	return rule
}

// Find returns the rule of a name that may be none's.
func Find(name string) (rule Rule, known bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}
