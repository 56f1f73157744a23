package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// places returns a home with projects in it, and where things are there.
func places(t *testing.T) (home string, p project.Places) {
	t.Helper()
	home = testfiles.Dir(t, map[string]string{
		"code/app/.git/HEAD": "", "code/app/.git/objects/": "", "code/app/.git/refs/": "", "code/app/src/deep/x.go": "", "code/svn/.svn/": "",
		"code/svn/sub/": "", "code/jj/.jj/": "", "code/sub/.git": "gitdir: ../app/.git/modules/sub\n", "plain/notes.md": "text", "bare/HEAD": "",
		"bare/objects/": "", "bare/refs/": "", ".secret/x/y": "", ".tools/x/": "", ".local/state/skills-mcp/": "", ".local/state/other/": "",
		"odd:read": "", "colon:dir/x": "", "empty/.git": "not a file of git",
	})
	for link, target := range map[string]string{"code/link": "app", "tohome": ".", "toroot": "/", "dangling": "gone", "tosecret": ".secret/x"} {
		if err := os.Symlink(target, filepath.Join(home, link)); err != nil {
			t.Skip(err)
		}
	}
	has := func(part string) func(string) (string, bool) {
		return func(path string) (string, bool) { return "is named so", strings.Contains("/"+path+"/", "/"+part+"/") }
	}
	return home, project.Places{
		WorkingDir: filepath.Join(home, "code", "app", "src"), Home: home, Own: []string{filepath.Join(home, ".local/state/skills-mcp"), filepath.Join(home, "not/yet")},
		Hidden: has(".secret"), Protected: has(".tools"),
	}
}

func wantRule(t *testing.T, err error, want project.Rule) {
	t.Helper()
	var refusal *project.Refusal
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want == "":
	case !errors.As(err, &refusal) || refusal.Rule != want:
		t.Errorf("%v, want the rule %s", err, want)
	case len(refusal.Reason) < 8 || !strings.Contains(refusal.Error(), refusal.Reason):
		t.Errorf("it says %q", refusal.Error())
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	home, p := places(t)
	app := filepath.Join(home, "code", "app")
	for _, test := range []struct {
		name string
		from project.Sources
		in   string // working directory below home
		want string // below home
		rule project.Rule
	}{
		{name: "named, absolute", from: project.Sources{Named: app, Host: "/"}, want: "code/app"},
		{name: "named, relative", from: project.Sources{Named: ".."}, want: "code/app"},
		{name: "named, in the home directory", from: project.Sources{Named: "~/plain"}, want: "plain"},
		{name: "named by a link", from: project.Sources{Named: "~/code/link"}, want: "code/app"},
		{name: "the host's, by a link", from: project.Sources{Host: home + "/code/link/."}, want: "code/app"},
		{name: "the host's", from: project.Sources{Host: app, Root: "file:///etc", Detect: true}, want: "code/app"},
		{name: "a root", from: project.Sources{Root: "file://" + app, Detect: true}, want: "code/app"},
		{name: "a root of localhost, escaped", from: project.Sources{Root: "file://localhost" + home + "/col%6Fn:dir"}, want: "colon:dir"},
		{name: "the top of the tree", from: project.Sources{Detect: true}, in: "code/app/src/deep", want: "code/app"},
		{name: "another version control", from: project.Sources{Detect: true}, in: "code/svn/sub", want: "code/svn"},
		{name: "a submodule", from: project.Sources{Detect: true}, in: "code/sub", want: "code/sub"},

		{name: "nothing", rule: project.RuleNone},
		{name: "off", from: project.Sources{Named: "off", Host: app}, rule: project.RuleOff},
		{name: "no version control", from: project.Sources{Detect: true}, in: "plain", rule: project.RuleNone},
		{name: "the host's is refused, others are not asked", from: project.Sources{Host: home, Detect: true}, rule: project.RuleHome},
		{name: "a root of another scheme", from: project.Sources{Root: "https://example.com/x"}, rule: project.RuleURI},
		{name: "a root of another machine", from: project.Sources{Root: "file://server" + app}, rule: project.RuleURI},
		{name: "a relative root", from: project.Sources{Root: "file:app"}, rule: project.RuleURI},
		{name: "a root with a query", from: project.Sources{Root: "file://" + app + "?x"}, rule: project.RuleURI},
		{name: "the whole file system", from: project.Sources{Named: "/"}, rule: project.RuleTop},
		{name: "a link to it", from: project.Sources{Named: "~/toroot"}, rule: project.RuleTop},
		{name: "the home directory", from: project.Sources{Named: "~"}, rule: project.RuleHome},
		{name: "a link to it", from: project.Sources{Named: "~/tohome"}, rule: project.RuleHome},
		{name: "with dots", from: project.Sources{Named: home + "/code/.."}, rule: project.RuleHome},
		{name: "above it", from: project.Sources{Named: filepath.Dir(home)}, rule: project.RuleHome},
		{name: "the system's", from: project.Sources{Named: "/etc"}, rule: project.RuleSystem},
		{name: "within the system's", from: project.Sources{Named: "/usr/share"}, rule: project.RuleSystem},
		{name: "our own", from: project.Sources{Named: "~/.local/state/skills-mcp"}, rule: project.RuleOwn},
		{name: "what holds our own", from: project.Sources{Named: "~/.local"}, rule: project.RuleOwn},
		{name: "beside our own", from: project.Sources{Named: "~/.local/state/other"}, want: ".local/state/other"},
		{name: "hidden", from: project.Sources{Named: "~/.secret/x"}, rule: project.RuleHidden},
		{name: "a link to what is hidden", from: project.Sources{Named: "~/tosecret"}, rule: project.RuleHidden},
		{name: "protected", from: project.Sources{Named: "~/.tools/x"}, rule: project.RuleProtected},
		{name: "a git directory", from: project.Sources{Named: "~/code/app/.git"}, rule: project.RuleGitDirectory},
		{name: "within one", from: project.Sources{Named: "~/code/app/.git/objects"}, rule: project.RuleGitDirectory},
		{name: "a bare repository", from: project.Sources{Named: "~/bare"}, rule: project.RuleGitDirectory},
		{name: "missing", from: project.Sources{Named: "~/gone"}, rule: project.RuleMissing},
		{name: "a link to nothing", from: project.Sources{Named: "~/dangling"}, rule: project.RuleMissing},
		{name: "a file", from: project.Sources{Named: "~/plain/notes.md"}, rule: project.RuleNoDirectory},
		{name: "another user's home", from: project.Sources{Named: "~root"}, rule: project.RuleMissing},
		{name: "no path", from: project.Sources{Named: "a\x00b"}, rule: project.RuleMissing},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := p
			if test.in != "" {
				p.WorkingDir = filepath.Join(home, test.in)
			}
			got, err := project.Find(test.from, p)
			wantRule(t, err, test.rule)
			if test.rule == "" && got != filepath.Join(home, test.want) {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestFindTheUsersOwnTree(t *testing.T) {
	t.Parallel()
	home, p := places(t)
	if err := os.Mkdir(filepath.Join(home, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.WorkingDir = filepath.Join(home, "todeep") // a link into a tree
	if err := os.Symlink("code/app/src/deep", p.WorkingDir); err != nil {
		t.Fatal(err)
	}
	got, err := project.Find(project.Sources{Detect: true}, p)
	wantRule(t, err, "")
	if got != filepath.Join(home, "code/app") {
		t.Errorf("found %q", got)
	}
	p.WorkingDir = filepath.Join(home, "plain") // in a home directory with version control
	_, err = project.Find(project.Sources{Detect: true}, p)
	wantRule(t, err, project.RuleHome)
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(filepath.Join(home, "code/app/.git"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	p.WorkingDir = filepath.Join(home, "code/app/src")
	_, err = project.Find(project.Sources{Detect: true}, p)
	wantRule(t, err, project.RuleNone)
	_, err = project.Find(project.Sources{Named: filepath.Join(home, "code/app")}, p)
	wantRule(t, err, "")
}

func TestFindUnreadable(t *testing.T) {
	t.Parallel()
	home, p := places(t)
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("nothing is unreadable here")
	}
	dir := filepath.Join(home, "plain")
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	_, err := project.Find(project.Sources{Named: dir}, p)
	wantRule(t, err, project.RuleUnreadable)
}

func TestShare(t *testing.T) {
	t.Parallel()
	home, p := places(t)
	for _, test := range []struct {
		text string
		want project.Share // Path below home
		rule project.Rule
	}{
		{"~/plain", project.Share{Path: "plain"}, ""},
		{"~/plain:read", project.Share{Path: "plain", Access: sandbox.AccessRead}, ""},
		{"../../../plain/:review", project.Share{Path: "plain", Access: sandbox.AccessReview}, ""},
		{"~/plain/notes.md:write", project.Share{Path: "plain/notes.md", Access: project.Write, File: true}, ""},
		{"~/odd:read:read", project.Share{Path: "odd:read", Access: sandbox.AccessRead, File: true}, ""},
		{"~/colon:dir", project.Share{Path: "colon:dir"}, ""},
		{"~/colon:dir/x", project.Share{Path: "colon:dir/x", File: true}, ""},
		{"~/colon:dir:review", project.Share{Path: "colon:dir", Access: sandbox.AccessReview}, ""},
		{"~/.tools/x:read", project.Share{Path: ".tools/x", Access: sandbox.AccessRead}, ""},

		{"~/.tools/x", project.Share{}, project.RuleProtected},
		{"~/.tools/x:write", project.Share{}, project.RuleProtected},
		{"~/.secret/x:read", project.Share{}, project.RuleHidden},
		{"~/.secret/x/y:read", project.Share{}, project.RuleHidden},
		{"~/plain:rw", project.Share{}, project.RuleAccess},
		{"~/plain:off", project.Share{}, project.RuleAccess},
		{"~/plain:", project.Share{}, project.RuleAccess},
		{":read", project.Share{}, project.RuleMissing},
		{"~/odd:read", project.Share{}, project.RuleMissing},
		{"", project.Share{}, project.RuleMissing},
		{"~/gone:read", project.Share{}, project.RuleMissing},
		{"~:read", project.Share{}, project.RuleHome},
		{"/:read", project.Share{}, project.RuleTop},
		{"/etc/passwd:read", project.Share{}, project.RuleSystem},
		{"/dev/null:read", project.Share{}, project.RuleNoDirectory},
		{"~/code/app/.git:read", project.Share{}, project.RuleGitDirectory},
	} {
		got, err := p.Share(test.text)
		if test.rule == "" {
			test.want.Path = filepath.Join(home, test.want.Path)
		}
		wantRule(t, err, test.rule)
		if got != test.want {
			t.Errorf("%q: %+v", test.text, got)
		}
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	shares := func(paths ...string) (all []project.Share) {
		for _, path := range paths {
			all = append(all, project.Share{Path: filepath.FromSlash(path)})
		}
		return all
	}
	for _, test := range []struct {
		project string
		shares  []project.Share
		rule    project.Rule
	}{
		{"/p", shares("/a", "/b", "/pp"), ""},
		{"", shares("/a", "/ab"), ""},
		{"/p", shares("/p/a"), project.RuleOverlap},
		{"/p/a", shares("/p"), project.RuleOverlap},
		{"/p", shares("/p"), project.RuleOverlap},
		{"/p", shares("/a", "/b", "/a"), project.RuleOverlap},
		{"", shares("/a/b", "/a"), project.RuleOverlap},
		{"", shares("/a", "/a/b/c"), project.RuleOverlap},
	} {
		wantRule(t, project.Apart(filepath.FromSlash(test.project), test.shares), test.rule)
	}
}
