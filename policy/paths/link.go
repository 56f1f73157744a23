package paths

import (
	"path"
	"strings"
)

// Lands returns where a symbolic link leads: the path in the directory, and
// whether it is in it at all. Link is the link's own path, base the directory's
// absolute one, in slashes and without symbolic links, and target is the link's
// text. It is judged as text: that no directory on the way is a link itself is
// for the caller to see, who must not open what may have become another.
func Lands(base, link, target string) (landing string, inside bool) {
	if target == "" || strings.IndexByte(target, 0) >= 0 || !clean(link) {
		return "", false
	}
	if path.IsAbs(target) {
		target = path.Clean(target)
		if target == base {
			return ".", true
		}
		if landing, inside = strings.CutPrefix(target, strings.TrimSuffix(base, "/")+"/"); !inside {
			return "", false
		}
		return landing, true
	}
	// A link that goes up and comes back, ../name/file, leads into the directory
	// today and elsewhere when that is moved: it is outside.
	at := strings.Split(path.Dir(link), "/")
	if at[0] == "." {
		at = nil
	}
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(at) == 0 {
				return "", false
			}
			at = at[:len(at)-1]
		default:
			at = append(at, part)
		}
	}
	if len(at) == 0 {
		return ".", true
	}
	return strings.Join(at, "/"), true
}

// Link reports whether a symbolic link must not come to be, and why, as
// [Rules.Protected] does: where it lies or leads is protected, or it leads
// outside. For what its parameters are see [Lands].
func (r Rules) Link(base, link, target string) (reason string, refused bool) {
	if reason, protected := r.Protected(link, Link); protected {
		return reason, true
	}
	landing, inside := Lands(base, link, target)
	if !inside {
		return "is a link that leads outside", true
	}
	if landing == "." {
		return "", false
	}
	// What is written by way of the link lands there.
	if reason, protected := r.Protected(landing, Modified); protected {
		return "is a link to " + landing + ", which " + reason, true
	}
	if reason, protected := r.Protected(landing, Link); protected {
		return "is a link to " + landing + ", which " + reason, true
	}
	return "", false
}
