//go:build amd64 || arm64

package local_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// What the operator names programs can read at its own path, through links too,
// and nothing beside it; nor do they write it.
func TestShow(t *testing.T) {
	dir := installed(t, map[string]string{"settings/x": "settings", "file": "file", "real/x": "real", "dir/a/x": "a", "dir/b/x": "b"},
		map[string]string{"link": "real"}, []string{"secret"})
	shown := []string{dir + "/settings", dir + "/file", dir + "/link", dir + "/dir/a", dir + "/dir", dir + "/settings", "/usr/share", "/etc/ssl"}
	if _, err := os.Stat("/etc/ssl"); err != nil {
		shown = shown[:len(shown)-1]
	}
	options := local.Options{Show: shown}
	for _, options.Tier = range []local.Tier{local.Full, local.Restricted} {
		backend, err := local.New(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		said := say(t, backend, sandbox.Spec{
			Shell:     `cd "$DIR" && cat settings/x file link/x dir/a/x dir/b/x; for f in settings/x settings/new file dir/new; do ! : > $f || echo wrote $f; done 2>/dev/null`,
			Workspace: t.TempDir(), Env: map[string]string{"DIR": dir},
		})
		if said != "settingsfilerealab" {
			t.Errorf("%s: %q", options.Tier, said)
		}
		if found := search(t, options.Tier, options, dir); found != "" {
			t.Errorf("%s: programs read %s", options.Tier, found)
		}
	}
	asNobodyToo(t)
}

// What takes the place of a shown directory is not shown: a link may lead
// anywhere.
func TestShowOfWhatBecameALink(t *testing.T) {
	options := local.Options{}
	for _, options.Tier = range []local.Tier{local.Full, local.Restricted} {
		dir := installed(t, map[string]string{"shown/file": "file"}, nil, []string{"secret/file"})
		options.Show = []string{dir + "/shown"}
		backend, err := local.New(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		read := sandbox.Spec{Shell: `cat "$DIR/shown/file" 2>/dev/null || echo nothing`, Workspace: t.TempDir(), Env: map[string]string{"DIR": dir}}
		before := say(t, backend, read)
		if err := errors.Join(os.Rename(dir+"/shown", dir+"/gone"), os.Symlink("secret", dir+"/shown")); err != nil {
			t.Fatal(err)
		}
		if after := say(t, backend, read); before != "file" || after != "nothing\n" {
			t.Errorf("%s: programs read %q, then %q", options.Tier, before, after)
		}
	}
	asNobodyToo(t)
}

// What only its owner may read, programs of a server that is root may not.
func TestShowOfPrivateFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("programs are the user whose files these are")
	}
	dir := installed(t, map[string]string{"shown/x": ""}, nil, []string{"shown/private", "closed/x"})
	if err := errors.Join(os.Chmod(dir+"/shown/private", 0o600), os.Chmod(dir+"/closed", 0o700)); err != nil {
		t.Fatal(err)
	}
	options := local.Options{Show: []string{dir + "/shown", dir + "/closed"}}
	if found := search(t, local.Full, options, dir); found != "" {
		t.Errorf("programs read %s", found)
	}
}

func TestShowRefuses(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{".ssh/id", ".config/x", "project/x", "fifo"} {
		writeFile(t, filepath.Join(home, name), "", 0o600)
	}
	socket, outside := filepath.Join(home, "socket"), t.TempDir()
	temporary := filepath.Join(outside, "of/the/server")
	t.Setenv("TMPDIR", filepath.Join(outside, "link"))
	state := filepath.Join(os.TempDir(), "skills-mcp-show-test")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := errors.Join(os.MkdirAll(temporary, 0o700), os.Symlink(temporary, os.TempDir()),
		os.MkdirAll(state, 0o700), os.Symlink(home+"/.ssh", outside+"/keys"), os.Symlink("/etc", outside+"/etc")); err != nil {
		t.Fatal(err)
	}
	refused := []string{
		"", "relative", "/", "/.", "/etc", "/etc/", "/etc/shadow", "/etc/passwd", "/etc/ssh", "/home", "/root", "/tmp", "/var", "/var/lib", "/var/tmp", "/var/run",
		"/proc", "/proc/self", "/sys", "/sys/kernel", "/dev", "/dev/null", "/run", "/nowhere", home, home + "/.", filepath.Dir(home), home + "/.ssh", home + "/.ssh/id",
		home + "/project/../.config", home + "/.config/x", socket, state, outside + "/keys", outside + "/etc",
		os.TempDir(), temporary, filepath.Dir(temporary), filepath.Join(temporary, filepath.Base(state)),
	}
	for _, name := range refused {
		if shown, err := local.CheckShow(name); err == nil {
			t.Errorf("%q is shown as %q", name, shown)
		}
		if _, err := local.New(t.Context(), local.Options{Show: []string{name}}); err == nil {
			t.Errorf("%q is shown", name)
		}
	}
	for _, name := range []string{home + "/project", home + "/project/x", "/usr/share", "/etc/ssl/../ssl"} {
		if shown, err := local.CheckShow(name); err != nil && !os.IsNotExist(err) || err == nil && shown != filepath.Clean(name) {
			t.Errorf("%q is shown as %q, %v", name, shown, err)
		}
	}
}
