package paths

import (
	"slices"
	"strings"
)

// What git keeps in a repository's directory is protected but for what commits,
// branches and the index consist of, so that a commit can be applied. Objects
// come and never change. None of the rest is needed for that, and much of it
// runs code (config, hooks, what is left to do of a rebase), leads elsewhere
// (alternates, commondir, gitdir, links) or would stop the user's git (locks).

// gitHeads are the names of files at the top of a git directory that name
// commits, or hold the message of one to be made.
var gitHeads = []string{
	"head", "orig_head", "fetch_head", "merge_head", "merge_autostash", "cherry_pick_head", "revert_head", "auto_merge",
	"commit_editmsg", "merge_msg", "merge_mode", "squash_msg", "tag_editmsg", "merge_rr", "packed-refs",
}

// gitDangers are names that are protected in the git directories of submodules
// and worktrees at any depth, since those may be named as what is in one.
var gitDangers = []string{
	"config", "config.worktree", "hooks", "commondir", "gitdir", "alternates", "http-alternates", "attributes", "rebase-merge",
	"rebase-apply", "sequencer", "remotes", "branches", "grafts",
}

const (
	reasonGit     = "runs code when git is used, or leads it elsewhere"
	reasonGitLink = "says which repository git uses here"
	reasonBare    = "could make git take the directory for a repository"
)

// gitDirectories judges a path by each git directory that it leads through: .git,
// and NAME.git as bare repositories are called.
func gitDirectories(n name, kind Kind) (reason string, protected bool) {
	for i, s := range n {
		tail := n[i+1:]
		switch {
		case s.is(".git") && len(tail) == 0:
			if kind != Directory {
				return reasonGitLink, true
			}
		case len(tail) == 0:
			if isBareName(s) && (kind == Unknown || kind == Deleted || kind == Link) {
				return reasonGitLink, true
			}
		case isGit(s) && !inGit(tail, kind):
			return reasonGit, true
		}
	}
	return "", false
}

func isGit(s segment) bool { return s.is(".git") || isBareName(s) }

func isBareName(s segment) bool {
	return slices.ContainsFunc(s, func(form string) bool { return strings.HasSuffix(form, ".git") })
}

// inGit reports whether a path in a git directory may change.
func inGit(tail name, kind Kind) bool {
	odd := func(s segment) bool { return !s.plain() || strings.HasSuffix(s[0], ".lock") }
	if kind == Unknown || kind == Link || kind == Mode || slices.ContainsFunc(tail, odd) {
		return false
	}
	top, below := tail[0][0], tail[1:]
	switch {
	case top == "modules":
		return inModules(below, kind)
	case top == "worktrees":
		return len(below) > 1 && inGit(below[1:], kind)
	case len(below) == 0:
		return atGitTop(top, kind)
	}
	switch top {
	case "refs", "logs", "reftable":
		return true
	case "objects":
		return inObjects(below, kind)
	case "lfs":
		return below[0][0] == "objects" && (kind == Added || kind == Directory)
	}
	return false
}

// atGitTop judges what is directly in a git directory.
func atGitTop(file string, kind Kind) bool {
	switch file {
	case "refs", "logs", "reftable", "objects", "lfs":
		return kind == Directory
	case "index", "head":
		return kind == Added || kind == Modified // without them it is no repository, or one in which all is deleted
	}
	return slices.Contains(gitHeads, file) && kind != Directory
}

// inObjects judges what is in the directory of objects.
func inObjects(below name, kind Kind) bool {
	for _, s := range below {
		if s[0] == "alternates" || s[0] == "http-alternates" || strings.HasPrefix(s[0], "tmp_") {
			return false
		}
	}
	derived := below[0][0] == "info" || below[len(below)-1][0] == "multi-pack-index"
	return kind == Added || kind == Directory || derived
}

// inModules judges what is in the git directories of submodules. Where one ends
// and what is in it begins does not show, since its name may have slashes: it
// is enough that one reading allows it, but no name may be dangerous in any.
func inModules(below name, kind Kind) bool {
	if slices.ContainsFunc(below, func(s segment) bool { return slices.Contains(gitDangers, s[0]) }) {
		return false
	}
	for i := 1; i < len(below); i++ {
		if inGit(below[i:], kind) {
			return true
		}
	}
	return false
}

// bareRepository judges what would make a directory a repository without .git,
// with a config and hooks of its own: HEAD, without which none is one, and what
// else git looks for at the top.
func bareRepository(n name, kind Kind) (reason string, protected bool) {
	last := len(n) - 1
	if slices.ContainsFunc(n[:last], isGit) {
		return "", false
	}
	switch {
	case n[last].is("head"):
		return reasonBare, kind != Directory
	case n[0].is("hooks"), n[0].is("objects"), n[0].is("refs"):
		return reasonBare, true
	case last == 0 && n[0].is("config"):
		return reasonBare, kind != Directory && kind != Deleted
	}
	return "", false
}
