package project

import (
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// Hooks returns where in a directory of the user's git finds hooks besides those
// of a .git: the values of core.hooksPath that lead into it, as clean,
// slash-separated paths relative to it. All configurations that git may read are
// read, with all that they include under whatever condition: one too many is
// protected from programs, and one too few runs their code. home is the user's
// home directory, or empty; further are the user's own configurations besides
// those of the repository.
func Hooks(dir, home string, further ...string) (hooks []string) {
	if dir == "" {
		return nil
	}
	for _, config := range append(repositoryConfigs(dir), further...) {
		eachSetting(config, home, func(s setting) (include bool) {
			if s.section == "core" && s.subsection == "" && s.key == "hookspath" {
				hooks = append(hooks, hooksIn(dir, home, s.value)...)
			}
			return s.section == "include" || s.section == "includeif"
		})
	}
	slices.Sort(hooks)
	return slices.Compact(hooks)
}

// repositoryConfigs are those of the repository whose worktree a directory is.
func repositoryConfigs(dir string) (configs []string) {
	at := filepath.Join(dir, ".git")
	if named, ok := namedBy(at, "gitdir: "); ok {
		at = named
	}
	dirs := []string{at}
	if common, ok := namedBy(filepath.Join(at, "commondir"), ""); ok {
		dirs = append(dirs, common)
	}
	for _, dir := range dirs {
		configs = append(configs, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
	}
	return configs
}

// hooksIn returns what a value of core.hooksPath means in a worktree, as it is
// written and with links resolved.
func hooksIn(dir, home, value string) (hooks []string) {
	path, ok := includedPath(filepath.Join(dir, "config"), home, value)
	if !ok {
		return nil
	}
	paths := []string{filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		paths = append(paths, real)
	}
	for _, path := range paths {
		if !pathname.Within(path, dir) {
			continue
		}
		inside, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
		case inside == ".":
			hooks = append(hooks, hookNames...)
		default:
			hooks = append(hooks, filepath.ToSlash(inside))
		}
	}
	return hooks
}

// hookNames are what git runs, where all of a worktree is the place of its hooks.
var hookNames = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update",
	"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman",
	"p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit", "post-index-change",
}
