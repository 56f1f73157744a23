package contained

import (
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a path. They are those of Linux, or below what any skill needs.
const (
	maxPathBytes    = 4096
	maxPathSegments = 64
)

// Clean checks a path of a client and brings it into the one form that
// names its file: relative, slash-separated, without empty and "." segments;
// "." is the directory itself. It looks at the text alone, never at the disk.
//
// Errors are [*Error]: [Invalid] for a path that is empty, not UTF-8, longer
// than 4096 bytes or 64 segments, or that holds a NUL or a backslash;
// [Absolute] for one with a leading slash, a drive letter or a UNC prefix;
// [Traversal] for any ".." segment, even where it would not lead out.
func Clean(path string) (string, error) {
	if !utf8.ValidString(path) {
		return "", Refuse(Invalid, path, "is not valid UTF-8")
	}
	return CleanBytes(path)
}

// CleanBytes is [Clean] for a path that may come from a directory or a URI,
// where a name may be any bytes.
func CleanBytes(path string) (string, error) {
	if err := checkPath(path); err != nil {
		return "", err
	}
	segments := make([]string, 0, 8)
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			return "", Refuse(Traversal, path, "holds a \"..\" segment")
		default:
			segments = append(segments, segment)
		}
	}
	if len(segments) > maxPathSegments {
		return "", Refuse(Invalid, path, "has more than %d segments", maxPathSegments)
	}
	if len(segments) == 0 {
		return ".", nil
	}
	return strings.Join(segments, "/"), nil
}

// checkPath refuses what shows in the characters of a path.
func checkPath(path string) error {
	switch {
	case path == "":
		return &Error{Rule: Invalid, Message: "the path is empty", Hint: hintPath}
	case len(path) > maxPathBytes:
		return Refuse(Invalid, path, "is longer than %d bytes", maxPathBytes)
	case strings.IndexByte(path, 0) >= 0:
		return Refuse(Invalid, path, "holds a NUL character")
	case path[0] == '/' || path[0] == '\\' || hasDriveLetter(path):
		return Refuse(Absolute, path, "is an absolute path")
	case strings.IndexByte(path, '\\') >= 0:
		// It is a separator on Windows, and a trick elsewhere.
		if slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
			return Refuse(Traversal, path, "holds a \"..\" segment")
		}
		return Refuse(Invalid, path, "holds a backslash")
	case runtime.GOOS == "windows" && strings.IndexByte(path, ':') >= 0:
		// It would name an alternate data stream of the file.
		return Refuse(Invalid, path, "holds a colon")
	}
	return nil
}

// hasDriveLetter reports whether Windows would take a path for one on a drive.
// It is refused everywhere, so that a skill means the same on every platform.
func hasDriveLetter(path string) bool {
	if len(path) < 2 || path[1] != ':' {
		return false
	}
	letter := path[0] | 0x20
	return 'a' <= letter && letter <= 'z'
}
