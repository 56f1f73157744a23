package paths

import "sync"

// protectedGroups are what no change set changes. The table in docs/project.md is
// held to it by a test. Of the directories of git, gitDirectories says more.
var protectedGroups = []group{
	{
		reason: "decides what an agent may do, or runs code for it",
		names:  []string{".claude", ".codex", ".cursor"}, worktrees: true,
	},
	{
		reason: "decides what an agent may do, or runs code for it",
		names: []string{
			".claude.json", ".claude.local.json", ".mcp.json", ".agents", ".gemini", ".windsurf", ".opencode",
			"opencode.json", "opencode.jsonc", ".continue", ".roo", ".kiro", ".kilocode", ".amazonq", ".trae", ".aider.conf.yml", ".crush.json",
			"crush.json", ".skills", ".skills-mcp", ".skills-mcp.yaml", ".skills-mcp.yml", ".config/skills-mcp",
		},
	},
	{
		reason: "runs code when the project is opened in an editor",
		names: []string{
			".vscode", ".vscode-server", "*.code-workspace", ".idea", "*.iml", "*.ipr", "*.iws", ".fleet", ".zed", ".nova", ".vs", ".devcontainer",
			".devcontainer.json", ".exrc", ".vimrc", "_vimrc", ".gvimrc", ".nvimrc", ".nvim.lua", ".vim", ".config/nvim", ".lvimrc", ".emacs",
			".emacs.d", ".dir-locals.el", ".dir-locals-2.el", "pyrightconfig.json",
		},
	},
	{
		reason: "runs code when a shell or a tool starts",
		names: []string{
			".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
			".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".config/fish", ".xprofile", ".xinitrc",
			".xsessionrc", ".xsession", ".pam_environment", ".config/environment.d", ".config/autostart", ".config/systemd", ".direnv", ".envrc",
			".autoenv", ".autoenv.zsh", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise", ".config/mise", ".rtx.toml",
			".tmux.conf", ".screenrc", ".gdbinit", ".gdbearlyinit", ".lldbinit", ".irbrc", ".pryrc", ".rprofile", ".pythonrc", ".psqlrc",
			".sqliterc", ".wgetrc", ".curlrc", ".ripgreprc", ".lessfilter", ".ackrc", ".ssh", ".gnupg",
		},
	},
	{
		reason: "runs code when git is used",
		names: []string{
			".gitconfig", ".gitmodules", ".config/git", ".husky", ".huskyrc", ".huskyrc.*", "husky.config.*", ".githooks", ".git-hooks", ".pre-commit-config.yaml",
			".pre-commit-config.yml", ".pre-commit-hooks.yaml", "lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook",
			".lefthook-local", ".overcommit.yml", ".local-overcommit.yml", ".lfsconfig", ".simple-git-hooks.*", "simple-git-hooks.*",
		},
	},
	{
		reason: "is another version control's own",
		names:  []string{".hg", ".jj", ".svn", ".bzr", "_darcs", ".pijul", "cvs/root", ".repo"},
	},
	{
		reason: "decides which code a build tool runs, or from where",
		names: []string{
			".cargo", ".yarn", ".yarnrc", ".yarnrc.*", ".npmrc", ".pnp.*", ".pnpmfile.*", "pnpmfile.js", "bunfig.toml", ".bunfig.toml", ".bazelrc",
			".bazeliskrc", "tools/bazel", ".mvn", "maven-wrapper.properties", "maven-wrapper.jar", "gradle-wrapper.properties",
			"gradle-wrapper.jar", "init.gradle", "init.gradle.kts", ".gradle/init.d", ".pypirc", ".condarc", ".gemrc", ".bundle", ".composer",
			".docker", ".buckconfig", ".buckconfig.local", ".config/pip", ".pip",
		},
	},
}

// protectedRules are compiled like [hiddenRules].
var protectedRules = sync.OnceValue(func() ruleset { return compile(protectedGroups) })
