// Package policy decides what a skill may do. It is pure: it reads no file,
// asks no one, and knows nothing of MCP. What it does not understand it
// denies.
//
// # Allowed tools
//
// A skill declares in its frontmatter what it may do, in the grammar of
// Claude Code's permission rules (https://code.claude.com/docs/en/permissions):
// entries separated by whitespace or commas, each a Name or a Name(pattern).
// [Parse] reads them, [Policy.Decide] holds a request against them.
//
//	Bash, bash, bash_tool, exec                       run commands and scripts
//	Read, read, view, View, readResource              read the skill's files
//	Write, write, Edit, edit, MultiEdit, create_file,
//	str_replace                                       write workspace files
//
// Any other name is kept and shown, and grants nothing but the tools.json
// tool of exactly that name.
//
// # Command patterns
//
// The pattern of a Bash entry is split into words as a shell would: quotes
// and backslashes keep spaces, parentheses and asterisks literal. A command
// is compared word by word, never as a string:
//
//	Bash(npm run build)    exactly these words
//	Bash(git log:*)        these words and any further arguments
//	Bash(git log *)        the same
//	Bash(npm run test*)    a last word that begins so, and any further arguments
//	Bash(git * main)       a lone * is one or more words; as the program, one
//	Bash(scripts/*.py:*)   * inside a word never matches a slash, and in a
//	                       word with a slash only a clean relative path
//	Bash, Bash(*)          everything: a grant of arbitrary code
//
// A relative path is a file of the skill where the pattern runs it: a program
// with a slash in it, the script after an interpreter, and what looks like a
// path after a program that runs others (env, xargs, uv run). A command names
// that file by "$SKILL_DIR/…", by the skill's directory as programs see it, or,
// where it starts in the skill's directory, by the relative path itself. In the
// workspace that path is another file, which any program may have written, and
// never matches. Elsewhere in a pattern a relative path is either's.
//
// This is narrower than Claude Code where its text matching would let an
// asterisk reach over a slash, over `..`, or from a file name into an option.
// Programs that run other programs or interpret text (shells, eval, env,
// sudo, xargs, find -exec and the like) match only where the pattern names
// them, never through an asterisk.
//
// A grant such as Bash(git:*) or Bash(python3:*) is a grant of arbitrary code
// all the same: many programs can be told to run another one, and some, such as
// timeout, nice and env, do nothing else (see [Grants.AnyProgram]). The
// allow-list says what an author declared; the sandbox is the boundary.
//
// # Shell programs
//
// A shell program is parsed as bash and must stay inside a strict subset:
// simple commands of literal words, joined by | |& && || and ;. A word may begin
// with $SKILL_DIR, in double quotes unless its value is known to be one word;
// no command beside it may set variables. Each command in it must be allowed for
// itself, and each file that it redirects to must be one that the skill may
// write; the sandbox's own directory in the workspace never is. Everything else (expansions, globs,
// comments, assignments, here-documents, compound commands, background jobs)
// is denied, since what it would run cannot be known beforehand. Paths are
// compared as they are spelt; that a link in the workspace leads nowhere else
// is the sandbox's to see to.
//
// # Path patterns
//
// The pattern of a Read or Write entry is a subset of gitignore's: * and ?
// within one path segment, ** over any number, a trailing slash for all that
// is below. A pattern without a slash matches at any depth; a leading ./ or /
// anchors it at the top of the skill, the workspace or the project, of which all
// a relative pattern holds. A leading // is the top of the file system, as Claude
// Code has it: such a pattern holds for files of the user, in the project and
// elsewhere. ~ is not known to a skill.
package policy

// Mode is how strictly a skill's allowed-tools are taken.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // what is not listed is denied
	Log     Mode = "log"     // what is not listed is allowed, and said
)

// Policy is what the operator configured. The zero Policy enforces.
type Policy struct {
	// Mode is [Enforce] where empty; any unknown value is Enforce.
	Mode Mode
}

// Decide answers a request of a skill with these grants; nil grants mean
// that the skill declares no allowed-tools and gets the default: everything
// inside the sandbox. A request that is malformed in itself is denied in
// every mode and with any grants. Decide may be called concurrently.
func (p Policy) Decide(grants *Grants, request Request) Decision {
	if fault := request.fault(); fault != nil {
		return *fault
	}
	if grants == nil {
		return allow(ruleDefault, "The skill declares no allowed-tools.")
	}
	decision := grants.decide(request)
	if p.Mode == Log && decision.Effect == Deny {
		return Decision{Effect: Allow, Rule: decision.Rule, Reason: decision.Reason, Logged: true}
	}
	return decision
}

// Open reports whether a skill with these grants may read all of its files and run
// some, so that nothing is kept from programs that are not its own and see them.
func (p Policy) Open(grants *Grants) bool { return p.Mode == Log || grants.open() }
