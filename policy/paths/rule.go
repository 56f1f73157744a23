package paths

import (
	"path"
	"slices"
	"strings"
)

// group is names that fall under one rule, and why.
type group struct {
	// reason follows a path.
	reason string
	// names are paths of one or more names with path.Match's wildcards. Each holds
	// at any depth, for what is there and all below.
	names []string
	// except are names that do not fall under it although one of names matches.
	except []string
	// worktrees has what is below NAME/worktrees/TREE not fall under it: a project
	// of its own.
	worktrees bool
	// copies has the names hold for what editors and people put beside a file,
	// such as name~ and name.bak.
	copies bool
}

// ruleset finds the rule of a path.
type ruleset struct {
	literal  map[string][]rule // by the first name
	suffixed map[string][]rule // by the extension of the first name, which is *.ext
	other    []rule
}

// rule is one name of a group.
type rule struct {
	*group
	pattern []string
}

func compile(groups []group) ruleset {
	set := ruleset{literal: map[string][]rule{}, suffixed: map[string][]rule{}}
	for i := range groups {
		for _, text := range groups[i].names {
			r := rule{&groups[i], strings.Split(text, "/")}
			first := r.pattern[0]
			extension, suffixed := strings.CutPrefix(first, "*")
			switch {
			case !strings.ContainsAny(first, `*?[\`):
				set.literal[first] = append(set.literal[first], r)
			case suffixed && path.Ext(extension) == extension && !strings.ContainsAny(extension, `*?[\`):
				set.suffixed[extension] = append(set.suffixed[extension], r)
			default:
				set.other = append(set.other, r)
			}
		}
	}
	return set
}

// match returns the reason of the first rule that a path, or a directory above
// it, falls under.
func (set ruleset) match(n name) (reason string, found bool) {
	for i := range n {
		if r, found := set.find(n[i:], func(r rule) bool { return len(r.pattern) <= len(n)-i && !r.frees(n[i:]) }); found {
			return r.reason, true
		}
	}
	return "", false
}

// leadsTo returns the reason of a rule that something below the path could fall
// under.
func (set ruleset) leadsTo(n name) (reason string, found bool) {
	for i := range n {
		if r, found := set.find(n[i:], func(r rule) bool { return len(r.pattern) > len(n)-i }); found {
			return "leads to what " + r.reason, true
		}
	}
	return "", false
}

// find returns the first rule of the wanted ones that the names agree with, as
// far as both go.
func (set ruleset) find(n name, wanted func(rule) bool) (rule, bool) {
	for _, form := range copiesOf(n[0]) {
		for _, candidates := range [][]rule{set.literal[form], set.suffixed[path.Ext(form)], set.other} {
			for _, r := range candidates {
				if wanted(r) && r.agrees(n) {
					return r, true
				}
			}
		}
	}
	return rule{}, false
}

// agrees reports whether names are those of the rule, as far as both go.
func (r rule) agrees(n name) bool {
	for i := range min(len(r.pattern), len(n)) {
		s := n[i]
		if r.copies {
			s = copiesOf(s)
		}
		if !slices.ContainsFunc(s, func(form string) bool { return r.matches(i, form) }) {
			return false
		}
	}
	return true
}

// frees reports whether a path is in a project of its own.
func (r rule) frees(n name) bool {
	return r.worktrees && len(n) > 2 && n[1].plain() && n[1].is("worktrees")
}

// matches reports whether one form of a name is the rule's at this depth.
func (r rule) matches(depth int, form string) bool {
	if !matchName(r.pattern[depth], form) {
		return false
	}
	return depth < len(r.pattern)-1 || !slices.ContainsFunc(r.except, func(pattern string) bool { return matchName(pattern, form) })
}

func matchName(pattern, form string) bool {
	if pattern == form {
		return true
	}
	matched, err := path.Match(pattern, form)
	return err == nil && matched
}

// copySuffixes end the names of copies that editors and people make.
var copySuffixes = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo", ".tmp", "#"}

// copiesOf adds to the forms of a name those of the file that it may be a copy
// of.
func copiesOf(s segment) segment {
	for _, form := range s {
		for _, suffix := range copySuffixes {
			original, found := strings.CutSuffix(form, suffix)
			if !found || original == "" {
				continue
			}
			if len(s) == cap(s) { // the caller's stays as it is
				s = slices.Clone(s)
			}
			s = s.with(original)
			switch suffix {
			case "#":
				s = s.with(strings.TrimPrefix(original, "#"))
			case ".swp", ".swo":
				s = s.with(strings.TrimPrefix(original, "."))
			}
		}
	}
	return s
}
