package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// maxGitFileBytes is how long a file of git's that names a directory may be.
const maxGitFileBytes = 4096

// GitDirectory returns the git directory that a project's .git names where that
// is a file: the repository of a linked worktree, or of a submodule, which is to be
// shared as the project is. It is absolute, clean and without symbolic links, and
// empty where there is none or it lies in the project. It is refused, so that
// git does not work in the project, unless it is this user's, nothing that
// [Places] refuses, and itself names the project: else a .git that came in an
// archive could show any repository. What is named by alternates is never shown.
func (p Places) GitDirectory(project string) (string, error) {
	at := filepath.Join(project, ".git")
	info, statErr := os.Lstat(at)
	if statErr != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	odd := refuse(RuleGitDirectory, at, "leads to no repository that names this directory as its worktree, so git does not work here")
	dir, ok := namedBy(at, "gitdir: ")
	if !ok {
		return "", odd
	}
	if pathname.Within(dir, project) {
		return "", nil
	}
	top := dir
	if common, linked := namedBy(filepath.Join(dir, "commondir"), ""); linked {
		if top = common; !namesWorktree(dir, top, at) {
			return "", odd
		}
	} else if !namesSubmodule(dir, project) {
		return "", odd
	}
	if info, err := os.Lstat(top); err != nil || !info.IsDir() || !filestat.Ours(info) || !isGitDirectory(top) {
		return "", odd
	}
	if refusal := p.refused(top, true); refusal != nil {
		return "", refusal
	}
	return top, nil
}

// namesWorktree reports whether a repository knows the directory as that of its
// worktree with this .git.
func namesWorktree(dir, common, gitFile string) bool {
	if filepath.Dir(dir) != filepath.Join(common, "worktrees") {
		return false
	}
	text := strings.TrimSpace(readShort(filepath.Join(dir, "gitdir")))
	if text != "" && !filepath.IsAbs(text) {
		text = filepath.Join(dir, text)
	}
	return sameFile(text, gitFile)
}

// namesSubmodule reports whether a git directory has this worktree.
func namesSubmodule(dir, project string) bool {
	var worktree string
	for _, s := range parseConfig(readSmall(filepath.Join(dir, "config"))) {
		if s.section == "core" && s.subsection == "" && s.key == "worktree" {
			worktree = s.value
		}
	}
	if worktree == "" {
		return false
	}
	if !filepath.IsAbs(worktree) {
		worktree = filepath.Join(dir, worktree)
	}
	return sameFile(worktree, project)
}

// namedBy returns the real path of the directory that a file of git's names
// behind a prefix.
func namedBy(file, prefix string) (dir string, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimRight(readShort(file), "\r\n"), prefix)
	if !ok || text == "" || strings.ContainsAny(text, "\n\x00") {
		return "", false
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(filepath.Dir(file), text)
	}
	dir, err := filepath.EvalSymlinks(text)
	return dir, err == nil
}

// readShort returns what a short regular file holds, or nothing.
func readShort(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxGitFileBytes {
		return ""
	}
	return readSmall(path)
}

func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}
