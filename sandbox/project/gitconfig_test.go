package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// credentials are git configurations in which SECRET must not be shown, and
// what is.
var credentials = []struct{ name, give, want string }{
	{"nothing to hide", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x.git\n", ""},
	{"a password", "[remote \"o\"]\n\turl = https://user:SECRET@example.com/x\n\tfetch = +a:b\n", "[remote \"o\"]\n\turl = \"https://example.com/x\"\n\tfetch = +a:b\n"},
	{"a token as the user", "[remote \"o\"]\n\turl = https://SECRET@example.com/x\n", "[remote \"o\"]\n\turl = \"https://example.com/x\"\n"},
	{"an @ in it", "[remote \"o\"]\n\turl = https://u:SEC@SECRET@h/x\n", "[remote \"o\"]\n\turl = \"https://h/x\"\n"},
	{"ssh", "[remote \"o\"]\n\turl = ssh://git:SECRET@h/x\n\tpushurl = ssh://git@h/x\n\turl = git@h:x\n", "[remote \"o\"]\n\turl = \"ssh://git@h/x\"\n\tpushurl = ssh://git@h/x\n\turl = git@h:x\n"},
	{"a query", "[submodule \"s\"]\n\turl = https://h/x?private_token=SECRET\n", "[submodule \"s\"]\n\turl = \"https://h/x\"\n"},
	{"a header", "[http]\n\tsslVerify = true\n\textraHeader = AUTHORIZATION: basic SECRET\n", "[http]\n\tsslVerify = true\n"},
	{"a header of one host", "[http \"https://h/\"]\n\tEXTRAHEADER = SECRET\n", "[http \"https://h/\"]\n"},
	{"in a section's name", "[url \"https://SECRET@h/\"]\n\tinsteadOf = git@h:\n", "[url \"https://h/\"]\n\tinsteadOf = git@h:\n"},
	{"a section for credentials", "[credential]\n\thelper = !echo password=SECRET\n[credential \"https://h\"]\n\tusername = SECRET\n[a]\n\tb = c\n", "[a]\n\tb = c\n"},
	{"the old form of a section", "[credential.https]\n\thelper = SECRET\n", "\n"},
	{"named like secrets", "[github]\n\tuser = me\n\ttoken = SECRET\n\toauth-token = SECRET\n[sendemail]\n\tsmtpPass = SECRET\n", "[github]\n\tuser = me\n[sendemail]\n"},
	{"a proxy", "[http]\n\tproxy = http://u:SECRET@p:1\n[remote \"o\"]\n\tproxy = u:SECRET@p:1\n", "[http]\n\tproxy = \"http://p:1\"\n[remote \"o\"]\n\tproxy = \"p:1\"\n"},
	{"a command for ssh", "[core]\n\tsshCommand = sshpass -p SECRET ssh\n\tbare = true\n", "[core]\n\tbare = true\n"},
	{"on the header's line", "[http] extraheader = SECRET\n\tx = y\n", "[http] x = y\n"},
	{"over two lines", "[remote \"o\"]\n\turl = https://u:SEC\\\nRET@h/x\n", "[remote \"o\"]\n\turl = \"https://h/x\"\n"},
	{"over two lines, as Windows has them", "[remote \"o\"]\r\n\turl = https://u:SEC\\\r\nRET@h/x\r\n", "[remote \"o\"]\r\n\turl = \"https://h/x\"\n"},
	{"in quotes", "[remote \"o\"]\n\turl = \"https://u:SECRET\"@h/x # there\n", "[remote \"o\"]\n\turl = \"https://h/x\"\n"},
	{"in comments", "# SECRET\n[a]\n\t; x \\\n\tb = c ; SECRET\n\t# token = SECRET", "[a]\n\tb = \"c\"\n"},
	{"an alias is no comment", "[alias]\n\tx = \"!f() { a; }; f # \"\n", ""},
	{"quotes, blanks and backslashes", "[a \"b \\\" \\\\\"]\n\tx = \" a\\\\b\\t\\\"c \" # d\n", "[a \"b \\\" \\\\\"]\n\tx = \" a\\\\b\\t\\\"c \"\n"},
	{"a variable without a value", "[a]\n\tx\n\ttoken\n\ty\n", "[a]\n\tx\n\ty\n"},
	{"a byte order mark", "\ufeff[a]\n\tx = 1\n", "[a]\n\tx = 1\n"},
	{"what git cannot read", "[a]\n\tx = 1\n= SECRET\n\ty = 2\n", "[a]\n\tx = 1\n"},
	{"no section", "x = SECRET\n", ""},
	{"a section that is left open", "[a \"SECRET\n", ""},
	{"quotes that are left open", "[a]\n\tx = \"SECRET\n\ty = 1\n", "[a]"},
	{"another grammar", "password: SECRET\n", ""},
	{"no end of line", "[a]\n\tx = 1", ""},
	{"nothing", "", ""},
	{"a hash", "0123456789abcdef0123456789abcdef01234567\n", ""},
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for _, test := range credentials {
		got := project.WithoutCredentials(test.give)
		if test.want == "" && !strings.Contains(test.give, "SECRET") && strings.HasPrefix(test.give, "[") {
			test.want = test.give
		}
		if diff := cmp.Diff(lines(test.want), lines(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if strings.Contains(strings.ReplaceAll(got, "\\\n", ""), "SECRET") {
			t.Errorf("%s: shows %q", test.name, got)
		}
	}
}

// lines returns the lines of a configuration, without blanks around them.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// TestGitReadsWhatIsShown: git finds in it what it finds in the user's, but for
// what was taken out.
func TestGitReadsWhatIsShown(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	variables := func(text string) (found map[string]string, ok bool) {
		file := filepath.Join(dir, "config")
		check(t, os.WriteFile(file, []byte(text), 0o600))
		out, err := exec.Command("git", "config", "--file", file, "--list", "--null").Output()
		found = map[string]string{}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			key, value, _ := strings.Cut(entry, "\n")
			found[key] = value
		}
		return found, err == nil
	}
	for _, test := range credentials {
		given, ok := variables(test.give)
		shown, shownOK := variables(project.WithoutCredentials(test.give))
		if !shownOK {
			t.Errorf("%s: git cannot read what is shown", test.name)
		}
		if !ok {
			continue // all that it says before the fault is kept, and git reads nothing
		}
		for key, value := range given {
			got, kept := shown[key]
			switch {
			case strings.Contains(key+value, "SECRET"):
				if strings.Contains(got, "SECRET") {
					t.Errorf("%s: %s is %q", test.name, key, got)
				}
			case strings.Contains(key, "token"), strings.HasPrefix(key, "credential."):
			case !kept || got != value:
				t.Errorf("%s: %s is %q, not %q", test.name, key, got, value)
			}
		}
	}
}

// FuzzWithoutCredentials: what is shown is shown unchanged, and shows no secret.
func FuzzWithoutCredentials(f *testing.F) {
	for _, test := range credentials {
		f.Add(test.give)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := project.WithoutCredentials(text)
		if again := project.WithoutCredentials(shown); again != shown {
			t.Errorf("%q is shown as %q, and that as %q", text, shown, again)
		}
		for _, secret := range []string{"extraheader", "smtppass"} {
			if strings.Contains(strings.ToLower(shown), "\n\t"+secret+" =") && !strings.ContainsAny(text, `"\`) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	home := testfiles.Dir(t, map[string]string{
		".gitconfig": "[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n\tsigningkey = SECRET\n[include]\n\tpath = more\n\tpath = ~/gone\n[github]\n\ttoken = SECRET\n",
		"more":       "[user]\n\temail = \"ada@work.example\" ; x\n[include]\n\tpath = .gitconfig\n",
		"p/config":   "[user]\n\tname = Ada of the Project\n[include]\n\tpath = " + "../secret\n",
		"secret":     "[user]\n\temail = SECRET\n",
		"odd":        "[user]\n\tname = \"two\\nlines <x>\"\n[user \"x\"]\n\temail = no\n",
	})
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(home, name))
		}
		return paths
	}
	for _, test := range []struct {
		name string
		give project.IdentityOptions
		want map[string]string
	}{
		{"nothing", project.IdentityOptions{Configs: in("gone")}, map[string]string{}},
		{"the user's", project.IdentityOptions{Configs: in("gone", ".gitconfig"), Home: home, Trusted: 1}, map[string]string{
			"GIT_AUTHOR_NAME": "Ada Lovelace", "GIT_COMMITTER_NAME": "Ada Lovelace", "GIT_AUTHOR_EMAIL": "ada@work.example", "GIT_COMMITTER_EMAIL": "ada@work.example",
		}},
		{"the project's first, without what it includes", project.IdentityOptions{Configs: in("p/config", ".gitconfig"), Home: home}, map[string]string{
			"GIT_AUTHOR_NAME": "Ada of the Project", "GIT_COMMITTER_NAME": "Ada of the Project", "GIT_AUTHOR_EMAIL": "ada@example.com",
			"GIT_COMMITTER_EMAIL": "ada@example.com",
		}},
		{"in one line", project.IdentityOptions{Configs: in("odd")}, map[string]string{"GIT_AUTHOR_NAME": "twolines x", "GIT_COMMITTER_NAME": "twolines x"}},
	} {
		test.want["GIT_CONFIG_COUNT"], test.want["GIT_CONFIG_KEY_0"], test.want["GIT_CONFIG_VALUE_0"] = "1", "safe.directory", "*"
		if diff := cmp.Diff(test.want, project.Identity(test.give)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestIdentityCommits: git commits with nothing else, in directories of others.
func TestIdentityCommits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := testfiles.Dir(t, map[string]string{"home/.gitconfig": "[user]\n\tname = Ada\n\temail = a@b\n", "p/file": ""})
	work := filepath.Join(dir, "p")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	for key, value := range project.Identity(project.IdentityOptions{Configs: []string{filepath.Join(dir, "home/.gitconfig")}}) {
		env = append(env, key+"="+value)
	}
	git := func(args ...string) string {
		command := exec.Command("git", args...)
		command.Dir, command.Env = work, env
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	if os.Geteuid() == 0 {
		check(t, os.Chown(work, 65534, 65534))
		check(t, os.Chown(filepath.Join(work, ".git"), 65534, 65534))
	}
	git("add", "file")
	git("commit", "-q", "-m", "first")
	if got := git("log", "--format=%an %ae %cn %ce"); got != "Ada a@b Ada a@b\n" {
		t.Errorf("the commit is by %q", got)
	}
}
