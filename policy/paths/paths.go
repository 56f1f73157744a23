// Package paths decides by their names which files of a directory of the user
// programs may see, and which they may change. It looks at no file.
//
// Paths are slash-separated and relative to the directory, and are judged as the
// least careful file system would take them: in any case of letters, with names
// that differ only in what Unicode calls compatible or ignorable, and with what
// Windows leaves out at the end of a name. So a rule is never escaped by
// another form of a name, at the price that a few more names fall under it. A
// path that is no clean relative one after ., double and trailing slashes are
// left out (absolute, with a .. or a NUL, or empty) is hidden and protected.
package paths

import (
	"fmt"
	"slices"
)

// Kind is how a path changes.
type Kind int

// The kinds of changes.
const (
	// Unknown is judged as the most dangerous of the others.
	Unknown Kind = iota
	// Added is a regular file where there was nothing.
	Added
	// Modified is a regular file in the place of what was there.
	Modified
	// Deleted is nothing in the place of a file, a link or a directory. What is
	// below a directory is to be asked for by itself, as the user has it: programs
	// do not see what is hidden there.
	Deleted
	// Mode is a file or directory with other permissions.
	Mode
	// Directory is a directory where there was nothing.
	Directory
	// Link is a symbolic link in the place of anything; where it leads is to be
	// asked for too.
	Link
)

// Options are what a configuration adds to the built-in rules.
//
// Patterns are slash-separated: * and ? stand for characters of one name, ** for
// any number of directories, [a-z] and {a,b} for alternatives, two times in a pattern at most. One without
// a slash holds at any depth, others from the directory's top, so does one that
// begins with / or ./. A pattern that ends in a slash stands for all that is
// below. What is below a directory that matches Hidden, Shown or Protected
// matches too.
type Options struct {
	// Hidden are patterns of what programs do not see, in any case of letters.
	Hidden []string
	// Shown are patterns of what they see although the built-in list, not Hidden,
	// hides it. Only the user's own configuration may set it.
	Shown []string
	// Protected are patterns of what no change set changes, in any case of letters.
	Protected []string
	// Writable are patterns of what may be changed without asking, in the case of
	// letters that they are written in.
	Writable []string
	// Hooks are paths, not patterns, of files and directories in which git finds
	// programs that it runs: no change set changes what is there or below.
	Hooks []string
}

// Places are such paths, not patterns, of what depends on what the user granted.
type Places struct {
	// Secrets are files that hold values of secrets: programs do not see them.
	Secrets []string
	// Granted are skills that were granted something, which another skill would
	// have by changing them, Own what this program goes by and Run what it runs for
	// the user: no change set changes them.
	Granted, Own, Run []string
}

// Rules are the built-in rules and those of a configuration. The zero Rules are
// the built-in ones. They may be used from many goroutines.
type Rules struct {
	hidden, shown, protected, writable []glob
	places                             []place
}

// place is what is protected with all that is below.
type place struct {
	name
	reason string
	hidden bool
}

// New returns the rules with these options; an error names the pattern that is
// none and the option that it is in.
func New(options Options) (Rules, error) {
	var r Rules
	for _, list := range []struct {
		option string
		from   []string
		to     *[]glob
		fold   bool
	}{
		{"hidden", options.Hidden, &r.hidden, true},
		{"shown", options.Shown, &r.shown, true},
		{"protected", options.Protected, &r.protected, true},
		{"writable", options.Writable, &r.writable, false},
	} {
		for _, text := range list.from {
			g, err := newGlob(text, list.fold)
			if err != nil {
				return Rules{}, fmt.Errorf("%s: %w", list.option, err)
			}
			*list.to = append(*list.to, g)
		}
	}
	r.addPlaces(options.Hooks, place{reason: reasonHooks})
	return r, nil
}

// With returns the rules with further places. These stay as they are.
func (r Rules) With(p Places) Rules {
	r.places = slices.Clip(r.places)
	r.addPlaces(p.Secrets, place{reason: reasonSecret, hidden: true})
	r.addPlaces(p.Granted, place{reason: reasonGranted})
	r.addPlaces(p.Own, place{reason: reasonOwn})
	r.addPlaces(p.Run, place{reason: reasonRun})
	return r
}

func (r *Rules) addPlaces(paths []string, like place) {
	for _, path := range paths {
		var ok bool
		if like.name, ok = parse(path, false); ok && len(like.name) > 0 {
			r.places = append(r.places, like)
		}
	}
}

// placeOf returns the place in which a path is, or, with leads, to which it leads.
func (r Rules) placeOf(n name, leads bool) (reason string, found bool) {
	for _, p := range r.places {
		if len(p.name) > len(n) == leads && p.agrees(n) {
			return p.reason, true
		}
	}
	return "", false
}

const (
	reasonHooks      = "runs code when git is used"
	reasonGranted    = "is of a skill that is granted something"
	reasonSecret     = "holds a secret that a skill is granted"
	reasonOwn        = "is what skills-mcp itself goes by, or records in"
	reasonRun        = "is run for the user when a secret is read"
	reasonMalformed  = "is no path in the directory"
	reasonConfigured = "is named in the configuration"
)

// Hidden reports whether programs must not see what is at a path, or below it,
// and why: a phrase that follows the path, such as "is a private key".
func (r Rules) Hidden(path string) (reason string, hidden bool) {
	return anyReading(path, r.hides)
}

func (r Rules) hides(n name) (reason string, hidden bool) {
	if anyMatch(r.hidden, n) {
		return reasonConfigured, true
	}
	for _, p := range r.places {
		if p.hidden && len(p.name) <= len(n) && p.agrees(n) {
			return p.reason, true
		}
	}
	reason, hidden = hiddenRules().match(n)
	if hidden && anyMatch(r.shown, n) {
		return "", false
	}
	return reason, hidden
}

// Protected reports whether a path must not change in this way, and why: a
// phrase that follows the path, such as "runs code when git is used". What is
// hidden is protected, since a program that writes it does not know what is
// there. A path that leads to something protected, such as .claude, must not be
// removed or become a link.
//
// Of a repository's .git it leaves free what commits and branches are made of.
// For a path that [GitIndex] names, what the file holds is to be asked for too.
func (r Rules) Protected(path string, kind Kind) (reason string, protected bool) {
	return anyReading(path, func(n name) (string, bool) { return r.protects(n, kind) })
}

func (r Rules) protects(n name, kind Kind) (reason string, protected bool) {
	if reason, hidden := r.hides(n); hidden {
		return "is hidden from programs: it " + reason, true
	}
	if len(n) == 0 {
		return "is the whole directory", kind != Directory && kind != Mode
	}
	if anyMatch(r.protected, n) {
		return reasonConfigured, true
	}
	if reason, found := r.placeOf(n, false); found {
		return reason, true
	}
	if reason, protected := protectedRules().match(n); protected {
		return reason, true
	}
	if reason, protected := bareRepository(n, kind); protected {
		return reason, true
	}
	if reason, protected := gitDirectories(n, kind); protected {
		return reason, true
	}
	if kind != Unknown && kind != Deleted && kind != Link {
		return "", false
	}
	if reason, found := r.placeOf(n, true); found {
		return "leads to what " + reason, true
	}
	if reason, leads := hiddenRules().leadsTo(n); leads {
		return reason, true
	}
	return protectedRules().leadsTo(n)
}

// Place reports whether a directory is, or lies in, what the built-in list
// protects, and why: what the owner of a machine should not have a change set
// for at all, such as ~/.claude. Path is its path from the top of the machine.
// Repositories are left out, since a worktree may lie in one.
func Place(path string) (reason string, protected bool) {
	return anyReading(path, protectedRules().match)
}

// Writable reports whether a path may change in this way without asking. What is
// protected never may, nor a path that is not clean.
func (r Rules) Writable(path string, kind Kind) bool {
	if kind == Unknown || !clean(path) {
		return false
	}
	if _, protected := r.Protected(path, kind); protected {
		return false
	}
	return slices.ContainsFunc(r.writable, func(g glob) bool { return g.matchExact(path) })
}
