package contained

// Rule names why a path or a read was refused; it is stable.
type Rule string

// The rules.
const (
	NotFound     Rule = "not-found"      // no such file or skill
	Invalid      Rule = "path-invalid"   // empty, NUL, backslash, not UTF-8, too long
	Absolute     Rule = "path-absolute"  // absolute, drive letter or UNC
	Traversal    Rule = "path-traversal" // a .. segment
	Escape       Rule = "path-escape"    // a link leads, or may lead, out of the directory
	IsDirectory  Rule = "is-directory"   // a directory where a file is wanted
	NotDirectory Rule = "not-directory"  // a file where a directory is wanted
	SpecialFile  Rule = "special-file"   // device, FIFO, socket
	TooLarge     Rule = "too-large"      // beyond the hard cap
	Denied       Rule = "access-denied"  // the operating system refuses
	OutOfRange   Rule = "out-of-range"   // offset or length make no sense
	Unreadable   Rule = "unreadable"     // an I/O error
)

// hints say what to do next about a refusal.
var hints = map[Rule]string{
	NotFound:     "Check the spelling, or list the directory to see what is there.",
	Invalid:      hintPath,
	Absolute:     hintPath,
	Traversal:    hintPath,
	Escape:       "Only files that lie inside the directory can be read; copy the file into it.",
	IsDirectory:  "List the directory, or name a file in it.",
	NotDirectory: "Read it as a file, or name a directory.",
	SpecialFile:  "Only regular files can be read.",
	TooLarge:     "Make it smaller, or have a program look into it.",
	Denied:       "The file's permissions keep the server from reading it.",
	OutOfRange:   "Give an offset from 0 up to the file's size, and a length of 0 or more.",
	Unreadable:   "Try again; if it fails again, the server's log says why.",
}

const hintPath = "Give a path relative to the directory, with forward slashes, such as references/guide.md."
