package resources

import (
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/percent"
)

// scheme begins every URI of a skill's file.
const scheme = "skill://"

// skillDocument is the name under which SEP-2640 addresses every entry
// document.
const skillDocument = "SKILL.md"

// maxURIBytes bounds what Resolve looks at: a longest path of 4,096 bytes, every
// byte encoded, and as much again for the skill path.
const maxURIBytes = 6 * 4096

// URI returns the skill:// URI of a file of a skill, percent-encoded by RFC
// 3986; "." has that of its directory, without trailing slash. The file is
// clean; its bytes need not be UTF-8.
//
// SEP-2640 addresses a skill by the URI of its SKILL.md. Where the entry
// document has another name (another letter case, or a capability pack's), its
// URI is nevertheless that of SKILL.md, and [Resolve] leads back from it. A
// second file of that very name beside such an entry document is not served.
func URI(skill *catalog.Skill, file string) string {
	if file == skill.Entry {
		file = skillDocument
	}
	authority, rest, nested := strings.Cut(skill.Path, "/")
	uri := scheme + percent.RegName(authority)
	if nested {
		uri += "/" + percent.Path(rest)
	}
	if file != "." {
		uri += "/" + percent.Path(file)
	}
	return uri
}

// Resolve finds the skill and the file that a skill:// URI names. The file is
// clean, relative and slash-separated; "." is the skill's directory. Whether
// it exists is not looked at. Where skill paths lie in one another, the
// longest that fits wins.
//
// Any encoding of the same name is taken: hexadecimal digits in either case,
// characters encoded without need or left as they are, and one trailing slash.
// Not taken, by [*contained.Error], are other schemes, a query, a fragment, user
// information, a port, empty and dot segments, and encoded characters that
// change what the path means (slash, backslash, NUL).
func Resolve(snapshot *catalog.Snapshot, uri string) (skill *catalog.Skill, file string, err error) {
	full, err := decodeURI(uri)
	if err != nil {
		return nil, "", err
	}
	skill, file, ok := match(snapshot, full)
	if !ok {
		e := contained.Refuse(contained.NotFound, uri, "names no skill that is served")
		e.Hint = "List the skills to see which there are."
		return nil, "", e
	}
	if file != "." {
		// The rules of paths hold for the file alone; a skill path was
		// checked by being the name of a skill.
		if file, err = contained.CleanBytes(file); err != nil {
			return nil, "", contained.InURI(uri, err)
		}
	}
	if file == skillDocument && skill.Entry != "" {
		file = skill.Entry
	}
	return skill, file, nil
}

// match cuts a decoded URI behind the longest skill path that begins it. Skill
// names are unique and end their skill path, so that each cut takes one look
// into the snapshot.
func match(snapshot *catalog.Snapshot, full string) (skill *catalog.Skill, file string, ok bool) {
	for end := len(full); end > 0; end = strings.LastIndexByte(full[:end], '/') {
		name := full[strings.LastIndexByte(full[:end], '/')+1 : end]
		skill, ok := snapshot.Lookup(name)
		switch {
		case !ok || skill.Path != full[:end]:
		case end == len(full):
			return skill, ".", true
		default:
			return skill, full[end+1:], true
		}
	}
	return nil, "", false
}

// OpenSkill opens the directory of a skill. The caller closes it.
func OpenSkill(skill *catalog.Skill) (*contained.Dir, error) {
	return contained.Open(skill.Dir, contained.Options{Entry: skill.Entry, Withheld: skill.Withheld})
}
