package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// What must not be shown is not shown where it is mounted at another path.
func TestFindWhatIsMountedElsewhere(t *testing.T) {
	t.Parallel()
	home, p := places(t)
	for name, test := range map[string]struct {
		from string
		want project.Rule
	}{
		"the home directory":  {home, project.RuleHome},
		"above it":            {filepath.Dir(home), project.RuleHome},
		"our own":             {filepath.Join(home, ".local/state/skills-mcp"), project.RuleOwn},
		"what holds our own":  {filepath.Join(home, ".local"), project.RuleOwn},
		"a project":           {filepath.Join(home, "plain"), ""},
		"what holds projects": {filepath.Join(home, "code"), ""},
	} {
		at := testfiles.Dir(t, nil)
		if err := unix.Mount(test.from, at, "", unix.MS_BIND, ""); err != nil {
			t.Skip("mounting needs privileges: ", err)
		}
		t.Log(name + ":")
		_, err := project.Find(project.Sources{Named: at}, p)
		_, shareErr := p.Share(at + ":read")
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
		wantRule(t, err, test.want)
		wantRule(t, shareErr, test.want)
	}
}

// Clients and change sets name a project in UTF-8.
func TestFindWhatIsNoUTF8(t *testing.T) {
	t.Parallel()
	home, p := places(t)
	dir := filepath.Join(home, "bad\xff", "app")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skip(err)
	}
	_, err := project.Find(project.Sources{Named: dir}, p)
	wantRule(t, err, project.RuleUnreadable)
	_, err = p.Share(dir)
	wantRule(t, err, project.RuleUnreadable)
}
