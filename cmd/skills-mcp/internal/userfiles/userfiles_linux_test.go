package userfiles

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/policy/paths"
)

// open returns what is lent with this command line, to a user of their own.
func open(t *testing.T, args ...string) (*Files, *settings.Settings) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	s, flags := &settings.Settings{}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.Register(flags, []string{"auto"}, "")
	must(t, flags.Parse(args))
	must(t, s.Read(nil))
	files, err := Open(s, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(files.Close)
	return files, s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestGrantedMeanwhile: what the user grants while a server runs is protected, and
// hidden, from then on: the skill, the file of its secret, and what is run to read
// it.
func TestGrantedMeanwhile(t *testing.T) {
	project := testfiles.Dir(t, map[string]string{"tools/weather/SKILL.md": "", "keys/token": "s3cret", "bin/read-key": "#!/bin/sh\n", "a.txt": ""})
	must(t, os.Chmod(filepath.Join(project, "bin/read-key"), 0o755))
	files, s := open(t, "--project", project, "--project-access=write", "--share", t.TempDir())
	lent := files.Lent().Project[0]
	check := func(granted bool) {
		t.Helper()
		for path, want := range map[string]bool{"tools/weather/SKILL.md": granted, "keys/token": granted, "bin/read-key": granted, "a.txt": false} {
			if reason, protected := lent.Rules().Protected(path, paths.Modified); protected != want {
				t.Errorf("granted %t: %s is protected: %t %s", granted, path, protected, reason)
			}
		}
		lease, err := lent.View.Acquire(t.Context())
		must(t, err)
		defer lease.Release()
		hidden := len(lease.Layers) == 2
		if hidden {
			info, err := os.Lstat(filepath.Join(lease.Layers[0], "keys/token"))
			must(t, err)
			hidden = info.Mode()&fs.ModeCharDevice != 0
		}
		if hidden != granted {
			t.Errorf("granted %t: the secret is hidden: %t, by %v", granted, hidden, lease.Masked)
		}
	}
	check(false)
	granted := config.Grants{Root: filepath.Join(project, "tools/weather"), Secrets: map[string]config.Secret{}}
	for name, source := range map[string]string{"A_KEY": "file:" + project + "/keys/token", "B_KEY": "command:" + project + "/bin/read-key --all"} {
		from, err := secrets.Parse(source)
		must(t, err)
		granted.Secrets[name] = config.Secret{Source: from, Mode: config.Plain}
	}
	must(t, s.Granted.Change(func(skills map[string]config.Grants) error { skills["weather"] = granted; return nil }))
	check(true)
	must(t, s.Granted.Change(func(skills map[string]config.Grants) error { clear(skills); return nil }))
	check(false)
}

// TestOwnFilesInProject: the configuration and the audit log that the user keeps
// in a project are changed by no program.
func TestOwnFilesInProject(t *testing.T) {
	project := testfiles.Dir(t, map[string]string{"conf/skills.yaml": "log: {level: warn}\n", "log/": ""})
	must(t, os.Symlink("conf/skills.yaml", filepath.Join(project, "link.yaml")))
	files, _ := open(t, "--project", project, "--config", filepath.Join(project, "link.yaml"), "--audit", filepath.Join(project, "log"))
	rules := files.Lent().Project[0].Rules()
	for path, kind := range map[string]paths.Kind{"conf/skills.yaml": paths.Modified, "link.yaml": paths.Link, "conf": paths.Deleted, "log/audit.jsonl": paths.Added} {
		if _, protected := rules.Protected(path, kind); !protected {
			t.Errorf("%s is not protected", path)
		}
	}
}

// TestWithheld: what is hidden in the project or a share is no content of a skill
// there; other skills have all that they hold.
func TestWithheld(t *testing.T) {
	dir := testfiles.Dir(t, map[string]string{
		"project/SKILL.md": "", "project/.skills-mcp.yaml": "project: {hidden: [private]}\n", "project/tools/a/SKILL.md": "", "project/private/b/SKILL.md": "",
		"share/a/SKILL.md": "", "elsewhere/SKILL.md": "",
	})
	must(t, os.Symlink("project/tools/a", filepath.Join(dir, "link")))
	_, s := open(t, "--project", filepath.Join(dir, "project"), "--share", filepath.Join(dir, "share"))
	withheld := Withheld(s)
	for _, test := range []struct {
		skill, path string
		want        bool
	}{
		{"project", ".env", true}, {"project", "tools/a/.env", true}, {"project", "private/b/SKILL.md", true}, {"project", "SKILL.md", false},
		{"project/tools/a", ".env", true}, {"project/tools/a", "SKILL.md", false}, {"link", ".env", true}, {"share/a", "id_rsa", true},
		{".", "project/.env", true}, {".", "share/a/id_rsa", true}, {".", ".env", false}, {".", "elsewhere/.env", false}, {".", "project", false},
		{"elsewhere", ".env", false}, {"gone", ".env", false},
		{"project/private/b", ".env", false}, // the user wants it shown
	} {
		of := withheld(filepath.Join(dir, test.skill))
		if got := of != nil && of(test.path); got != test.want {
			t.Errorf("of %s, %s is withheld: %t", test.skill, test.path, got)
		}
	}
	for _, skill := range []string{"elsewhere", "gone"} {
		if withheld(filepath.Join(dir, skill)) != nil {
			t.Errorf("something of %s may be withheld", skill)
		}
	}
}
