package paths_test

import (
	"path"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy/paths"
)

func rules(t testing.TB, o paths.Options) paths.Rules {
	t.Helper()
	r, err := paths.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// secrets are hidden wherever they are.
var secrets = []string{
	".env", ".env.local", ".env.production", ".env.example.local", ".env_prod", ".envrc", "id_rsa", "id_ed25519", "server.key", "privkey.pem",
	"localhost-key.pem", "cert-key.pem", "store.p12", "store.pfx", "putty.ppk", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials",
	".aws", ".aws/credentials", ".azure/accessTokens.json", ".config/gcloud/x/y", ".kube/config", ".docker/config.json", ".ssh/config",
	".gnupg/x", "terraform.tfstate", "terraform.tfstate.backup", "prod.tfstate", "client_secret_123.apps.json", ".git/credentials",
	"my-service-account-prod.json", ".claude/.credentials.json", ".env~", "..env.swp", "#.env#", "id_rsa.bak", ".npmrc.orig", "server.key.old",
	".hg/hgrc", "master.key", "secring.gpg",
}

// shown are near to what is hidden.
var shown = []string{
	".", "env", ".environment", ".env.example", ".env.sample", ".env.template", ".env.production.example", ".env_example", "id_rsa.pub", "id_ed25519.pub",
	"cacert.pem", "lib/python3.12/site-packages/certifi/cacert.pem", "cert.pem", "fullchain.pem", "ca-certificates.pem", "ca.pem", "key.pub",
	"keys.txt", "keyboard.go", "monkey", ".config", ".config/other", ".docker/Dockerfile", "aws", "npmrc", "main.tf", "terraform.tfvars",
	"x.kube", ".git/config", ".git/HEAD", ".github/workflows/ci.yml", "credentials.go", "example-service-account.json", "a\nb", "日本語", "\xff",
}

func TestHidden(t *testing.T) {
	t.Parallel()
	var r paths.Rules
	for _, name := range secrets {
		if reason, hidden := r.Hidden(name); !hidden || reason == "" {
			t.Errorf("%q is shown", name)
		}
		if _, protected := r.Protected(name, paths.Added); !protected {
			t.Errorf("%q is hidden and not protected", name)
		}
	}
	for _, name := range shown {
		if reason, hidden := r.Hidden(name); hidden {
			t.Errorf("%q is hidden: %s", name, reason)
		}
	}
}

// dangerous are protected in every change.
var dangerous = []string{
	".git/hooks/pre-commit", ".git/config", ".git/config.worktree", ".git/info/attributes", ".git/info/exclude", ".git/objects/info/alternates",
	".git/index.lock", ".git/refs/heads/main.lock", ".git/commondir", ".git/gitdir", ".git/modules/x/config", ".git/modules/x/hooks/a",
	".git/modules/a/logs/config", ".git/modules/config", ".git/worktrees/w/gitdir", ".git/worktrees/w/config.worktree", ".git/worktrees/w/commondir",
	".git/rebase-merge/git-rebase-todo", ".git/sequencer/todo", ".git/remotes/origin", ".git/branches/x", ".git/shallow", ".git/unknown",
	".git/refs/../config", ".git/modules/a/objects/info/alternates", ".git/modules/a/b/modules/c/hooks/x", "sub/.git/hooks/x", "x.git/config",
	"x.git/hooks/update", ".git/hooks", ".git/objects/pack/tmp_pack_x", "HEAD", "a/HEAD", "hooks/update", "refs/heads/x", "objects/ab/c",
	".claude/settings.json", ".claude/settings.local.json", ".claude/skills/x/SKILL.md", ".claude", ".mcp.json", ".vscode/tasks.json", ".idea/x",
	".bashrc", ".zshenv", ".profile", ".gitconfig", ".gitmodules", ".envrc", ".husky/pre-commit", ".cargo/config.toml", ".devcontainer/x",
	".devcontainer.json", ".yarn/releases/yarn.cjs", ".yarnrc.yml", ".yarnrc", ".npmrc", ".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.cjs",
	"bunfig.toml", ".bazelrc", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.toml", "lefthook-local.yml", ".mvn/extensions.xml",
	"gradle/wrapper/gradle-wrapper.properties", "maven-wrapper.properties", "pyrightconfig.json", ".ripgreprc", ".claude.json", ".codex/x", ".agents/x",
	".gemini/settings.json", ".cursor/rules", ".skills/x/SKILL.md", ".skills-mcp.yaml", ".config/git/hooks", "app.code-workspace", "tools/bazel",
	".hg/store/x", ".jj/repo/config.toml", ".githooks/x",
	".claude/worktrees", ".claude/worktrees/w/.vscode/x", ".claude/worktrees/w/.git/config",
}

// free may be changed by a change set.
var free = []string{
	"main.go", "a/b/c", "Makefile", "package.json", ".github/workflows/ci.yml", ".gitignore", ".gitattributes", "CLAUDE.md", "AGENTS.md", "config/app.yml",
	"src/hooks/useX.ts", "src/config", ".editorconfig", "gradle/libs.versions.toml", "tools/x", ".config/other", "git", "x/config", "objects.go", "a\\b",
	".git/HEAD", ".git/index", ".git/refs/heads/config", ".git/refs/heads/feature/x", ".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/COMMIT_EDITMSG",
	".git/objects/ab/cdef", ".git/objects/pack/pack-1.pack", ".git/packed-refs", ".git/modules/sub/objects/ab/c", ".git/modules/a/b/HEAD",
	".git/worktrees/w/index", ".git/worktrees/w/logs/HEAD", ".git/lfs/objects/ab/c", "sub/.git/refs/heads/x", "x.git/HEAD", "head.go", "a/ahead",
	".claude/worktrees/w/main.go", ".claude/worktrees/w/src/x",
}

// malformed are no paths in a directory.
var malformed = []string{
	"", "/", "/etc/passwd", "..", "../x", "a/../../x", ".git/refs/../config", "a\x00b", "a/..\u200c/x", ". ./x", ".../x", `a\..\..\x`, "a/ ",
	"..:x/a", "//x",
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	r := rules(t, paths.Options{Shown: []string{"**"}, Writable: []string{"**"}})
	for _, name := range malformed {
		if _, hidden := r.Hidden(name); !hidden {
			t.Errorf("%q is shown", name)
		}
		for _, kind := range kinds {
			if _, protected := r.Protected(name, kind); !protected || r.Writable(name, kind) {
				t.Errorf("%q may change as %d", name, kind)
			}
		}
	}
}

var kinds = []paths.Kind{paths.Unknown, paths.Added, paths.Modified, paths.Deleted, paths.Mode, paths.Directory, paths.Link}

func TestProtected(t *testing.T) {
	t.Parallel()
	var r paths.Rules
	for _, name := range dangerous {
		for _, kind := range kinds {
			if path.Base(name) == "HEAD" && kind == paths.Directory || name == ".claude/worktrees" && (kind == paths.Directory) {
				continue
			}
			if reason, protected := r.Protected(name, kind); !protected || reason == "" {
				t.Errorf("%q may change as %d", name, kind)
			}
		}
	}
	for _, name := range free {
		if reason, protected := r.Protected(name, paths.Added); protected {
			t.Errorf("%q may not be added: it %s", name, reason)
		}
	}
}

func TestProtectedByKind(t *testing.T) {
	t.Parallel()
	const all = "uamdpDl" // unknown, added, modified, deleted, permissions, directory, link
	var r paths.Rules
	for _, test := range []struct{ name, free string }{
		{"main.go", all},
		{".", "pD"},
		{".git", "D"}, // a file or link would lead elsewhere
		{"sub/.git", "D"},
		{"x.git", "ampD"},
		{".config", "ampD"}, // leads to .config/git
		{"gradle", all},
		{"tools", "ampD"},
		{"HEAD", "D"},
		{"config", "dD"},
		{".git/HEAD", "am"},
		{".git/index", "am"},
		{".git/MERGE_HEAD", "amd"},
		{".git/refs", "D"},
		{".git/refs/heads/x", "amdD"},
		{".git/objects/ab/c", "aD"}, // objects never change
		{".git/objects/pack/pack-1.idx", "aD"},
		{".git/objects/pack/multi-pack-index", "amdD"},
		{".git/objects/info/commit-graphs/x", "amdD"},
		{".git/modules/x", ""},
		{".git/modules/x/objects", "D"},
		{".git/worktrees/w", ""},
	} {
		var free strings.Builder
		for i, kind := range kinds {
			if _, protected := r.Protected(test.name, kind); !protected {
				free.WriteByte(all[i])
			}
		}
		if free.String() != test.free {
			t.Errorf("%s may change as %q, want %q", test.name, free.String(), test.free)
		}
	}
}

// variants are forms in which a file system may take a path.
var variants = map[string]func(string) string{
	"as it is":              func(p string) string { return p },
	"capitals":              strings.ToUpper,
	"title":                 strings.Title, //nolint:staticcheck // names of ASCII letters
	"slash":                 func(p string) string { return p + "/" },
	"dot":                   func(p string) string { return "./" + p },
	"dot within":            func(p string) string { return strings.ReplaceAll(p, "/", "/./") },
	"double slash":          func(p string) string { return strings.ReplaceAll(p, "/", "//") },
	"deeper":                func(p string) string { return "a/b/" + p },
	"below":                 func(p string) string { return p + "/x" },
	"backslashes":           func(p string) string { return strings.ReplaceAll("a/"+p, "/", `\`) },
	"trailing dot":          func(p string) string { return p + "." },
	"trailing dots":         func(p string) string { return strings.ReplaceAll(p, "/", ". ./") + " . ." },
	"stream":                func(p string) string { return p + "::$DATA" },
	"stream of a directory": func(p string) string { return strings.Replace(p, "/", ":$I30:$INDEX_ALLOCATION/", 1) },
	"ignorable":             func(p string) string { return strings.Join(strings.SplitAfter(p, ""), "\u200c") },
	"soft hyphen":           func(p string) string { return p + "\u00ad" },
	"full width":            func(p string) string { return wide(p) },
	"long s":                func(p string) string { return strings.ReplaceAll(p, "s", "ſ") },
	"sharp s":               func(p string) string { return strings.ReplaceAll(p, "ss", "ß") },
	"kelvin":                func(p string) string { return strings.ReplaceAll(p, "k", "K") },
	"ligature":              func(p string) string { return strings.ReplaceAll(strings.ReplaceAll(p, "fi", "ﬁ"), "st", "ﬆ") },
}

func wide(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'ａ'
		}
		return r
	}, text)
}

// TestNoFormEscapes: what is hidden or protected is so in every form.
func TestNoFormEscapes(t *testing.T) {
	t.Parallel()
	r := rules(t, paths.Options{Hidden: []string{"*.kept", "private/**"}, Protected: []string{"locked/", "fixed.txt"}})
	for form, vary := range variants {
		for _, name := range append([]string{"x.kept", "private/notes"}, secrets...) {
			if form == "deeper" && strings.HasPrefix(name, "private") || form == "backslashes" && strings.HasPrefix(name, "private") {
				continue
			}
			if _, hidden := r.Hidden(vary(name)); !hidden {
				t.Errorf("%s: %q is shown", form, vary(name))
			}
		}
		for _, name := range append([]string{"locked/x", "fixed.txt"}, dangerous...) {
			switch first, _, _ := strings.Cut(name, "/"); {
			case first == "hooks", first == "objects", first == "refs", first == "locked", name == ".git/modules/config":
				if form == "deeper" || form == "backslashes" {
					continue // at the top alone
				}
			}
			if form == "below" && (path.Base(name) == "HEAD" || name == ".claude/worktrees" || strings.HasSuffix(name, "/tmp_pack_x")) ||
				name == ".claude/worktrees/w/.git/config" && form == "deeper" {
				continue
			}
			if _, protected := r.Protected(vary(name), paths.Modified); !protected {
				t.Errorf("%s: %q may change", form, vary(name))
			}
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	r := rules(t, paths.Options{
		Hidden: []string{"*.secret", "/data/raw", "notes/"}, Shown: []string{"testdata/**/*.pem", ".npmrc", "fixtures/x.secret"},
		Protected: []string{"VERSION", "db/{migrate,seed}/**"}, Writable: []string{"out/**", "*.log", "./report.md", "**"},
	})
	for name, want := range map[string]bool{
		"a.secret": true, "x/A.SECRET": true, "data/raw": true, "data/raw/x/y": true, "x/data/raw": false, "data": false, "notes/x": true,
		"testdata/a/b.pem": false, "b.pem": true, "x/.npmrc": false, "fixtures/x.secret": true,
	} {
		if _, hidden := r.Hidden(name); hidden != want {
			t.Errorf("%q hidden: %v", name, hidden)
		}
	}
	for name, want := range map[string]bool{
		"VERSION": true, "a/version": true, "db/migrate/1.sql": true, "db/seed": true, "db/x": false, ".npmrc": true,
	} {
		if _, protected := r.Protected(name, paths.Modified); protected != want {
			t.Errorf("%q protected: %v", name, protected)
		}
	}
}

// TestWritable: what may change without asking is exactly what is named, and
// never what is protected or hidden.
func TestWritable(t *testing.T) {
	t.Parallel()
	some := rules(t, paths.Options{Writable: []string{"out/**", "*.log", "./report.md", "docs/"}})
	for name, want := range map[string]bool{
		"out/a/b": true, "out": true, "OUT/a": false, "x/out/a": false, "a/b.log": true, "b.LOG": false, "report.md": true, "x/report.md": false,
		"docs/a": true, "out/.env": false, "out/.vscode/x": false, "out/../x": false, "./out/a": false, "out//a": false, "out/a/": false, "/out/a": false,
		"": false, ".": false, "out/a\x00": false,
	} {
		if got := some.Writable(name, paths.Added); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	all := rules(t, paths.Options{Writable: []string{"**", ".git/**", ".env", ".claude/**"}})
	for _, name := range append(append([]string{}, secrets...), dangerous...) {
		for _, kind := range kinds {
			if _, protected := all.Protected(name, kind); protected && all.Writable(name, kind) {
				t.Errorf("%q may change without asking", name)
			}
		}
	}
	if all.Writable("main.go", paths.Unknown) || !all.Writable("main.go", paths.Deleted) {
		t.Error("** is not everything, or more")
	}
	if (paths.Rules{}).Writable("main.go", paths.Added) {
		t.Error("something may change without asking by default")
	}
}

func TestNoPattern(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"", "/", "a//b", "../x", "a/./b", "a/..", "[a", "{a", `a\`, "!x", "~/x", "//x", "{a}{b}{c}", strings.Repeat("x", 2000), "{" + strings.Repeat(",", 50) + "}"} {
		if _, err := paths.New(paths.Options{Protected: []string{"ok", pattern}}); err == nil || !strings.HasPrefix(err.Error(), "protected: ") {
			t.Errorf("%q is taken: %v", pattern, err)
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"home/u/code/app": false, "home/u/app.git/main": false, "home/u/.claude": true, "home/u/.Claude/skills/x": true, "home/u/.vim/x": true,
		"home/u/app/.claude/worktrees/w": false, "home/u/.codex/worktrees/1/app": false, "home/u/.claude/worktrees": true, "hooks/x": false, "../x": true,
	} {
		if reason, got := paths.Place(name); got != want || got && reason == "" {
			t.Errorf("%s: %v, %s", name, got, reason)
		}
	}
}

// TestLink: a link neither comes to be where something is protected, nor leads
// there.
func TestLink(t *testing.T) {
	t.Parallel()
	var r paths.Rules
	for name, want := range map[string]bool{
		"latest": false, "out/1": false, "d/up": false, "notes": false,
		".env": true, ".git/hooks": true, ".git": true, ".GIT/objects": true, ".config": true, ".vscode/": true, ".claude": true, "HEAD": true,
		".git/refs/heads/x": true, "../q": true, "/home/q/out/1": true,
	} {
		if reason, refused := r.Protected(name, paths.Link); refused != want || refused && reason == "" {
			t.Errorf("%s: %v, %s", name, refused, reason)
		}
	}
}

// wellFormed reports whether a name is a path in a directory.
func wellFormed(r paths.Rules, name string) bool {
	reason, _ := r.Hidden(name)
	return !strings.Contains(reason, "is no path")
}

// FuzzForms: no form of a path is judged more mildly than the path.
func FuzzForms(f *testing.F) {
	for _, name := range append(append(append([]string{}, secrets...), dangerous...), free...) {
		f.Add(name, uint8(0))
		f.Add(name, uint8(1))
	}
	r := rules(f, paths.Options{Hidden: []string{"*.kept"}, Protected: []string{"locked/**"}})
	forms := []func(string) string{
		func(p string) string { return p + "/" },
		func(p string) string { return "./" + p },
		func(p string) string { return strings.ReplaceAll(p, "/", "//") },
		func(p string) string { return strings.ReplaceAll(p, "/", "/./") },
		func(p string) string { return strings.ReplaceAll(p, "/", `\`) },
		func(p string) string { return p + "/below" },
		strings.ToUpper,
		strings.ToLower,
		wide,
	}
	f.Fuzz(func(t *testing.T, name string, form uint8) {
		i := int(form) % len(forms)
		varied := forms[i](name)
		_, hidden := r.Hidden(name)
		if _, still := r.Hidden(varied); hidden && !still && wellFormed(r, name) {
			t.Errorf("%q is hidden, %q is not", name, varied)
		}
		below := i == 5
		if !wellFormed(r, name) {
			return
		}
		for _, kind := range kinds {
			reason, protected := r.Protected(name, kind)
			if _, still := r.Protected(varied, kind); protected && !still && !(below && strings.Contains(reason, "leads to")) && !below {
				t.Errorf("%q is protected (%s), %q is not", name, reason, varied)
			}
			if r.Writable(name, kind) {
				t.Errorf("%q is writable", name)
			}
		}
	})
}

// FuzzGlobs: a pattern never panics, and what it hides it hides with all below.
func FuzzGlobs(f *testing.F) {
	f.Add("*.pem", "a/b.pem")
	f.Add("a/{b,c}/**", "a/b/c")
	f.Add("[a-z]*", "x")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		r, err := paths.New(paths.Options{Hidden: []string{pattern}, Writable: []string{pattern}})
		if err != nil {
			return
		}
		if _, hidden := r.Hidden(name); hidden {
			if _, below := r.Hidden(name + "/x"); !below {
				t.Errorf("%q hides %q and not what is below", pattern, name)
			}
			if r.Writable(name, paths.Added) {
				t.Errorf("%q frees %q, which it hides", pattern, name)
			}
		}
	})
}

func BenchmarkHidden(b *testing.B) {
	var r paths.Rules
	for b.Loop() {
		r.Hidden("internal/some/package/deep/down/file_test.go")
	}
}

// TestPlaces: where git finds hooks, and skills lie that are granted something,
// and at what this program goes by and runs, nothing changes, in whatever case of
// letters, and what leads there does not go. Secrets are not seen either.
func TestPlaces(t *testing.T) {
	t.Parallel()
	rules, err := paths.New(paths.Options{Hooks: []string{"tools/hooks", "[x]", "/absolute", "../up", "", "."}})
	if err != nil {
		t.Fatal(err)
	}
	rules = rules.With(paths.Places{
		Granted: []string{"skills/weather"}, Own: []string{"conf/skills.yaml"}, Run: []string{"bin/read-key"}, Secrets: []string{"keys/token"},
	})
	for _, test := range []struct {
		path      string
		kind      paths.Kind
		protected bool
	}{
		{"tools/hooks", paths.Added, true}, {"tools/hooks/pre-commit", paths.Added, true}, {"tools/HOOKS/a/b", paths.Modified, true},
		{"tools", paths.Deleted, true}, {"tools", paths.Link, true}, {"tools", paths.Mode, false}, {"tools/a", paths.Added, false},
		{"tools/hooks2", paths.Added, false}, {"a/tools/hooks", paths.Added, false}, {"[x]", paths.Added, true}, {"x", paths.Added, false},
		{"skills/weather/run.sh", paths.Modified, true}, {"Skills/Weather", paths.Link, true}, {"skills", paths.Deleted, true}, {"skills/other/run.sh", paths.Added, false},
		{"conf/Skills.YAML", paths.Modified, true}, {"conf", paths.Deleted, true}, {"bin/read-key", paths.Mode, true}, {"keys/token", paths.Modified, true}, {"keys", paths.Link, true},
	} {
		if reason, protected := rules.Protected(test.path, test.kind); protected != test.protected {
			t.Errorf("%s, kind %d: %q", test.path, test.kind, reason)
		}
	}
	for path, want := range map[string]bool{"keys/token": true, "Keys/TOKEN": true, "keys": false, "keys/token2": false, "conf/skills.yaml": false} {
		if reason, hidden := rules.Hidden(path); hidden != want {
			t.Errorf("%s is hidden: %t, %s", path, hidden, reason)
		}
	}
}
