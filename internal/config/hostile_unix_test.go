//go:build unix

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/config"
)

// TestHostileProjectFile: what is in the place of a project's file is neither
// followed nor waited for.
func TestHostileProjectFile(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("disabled: [x]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		put  func(name string) error
	}{
		{"a link", func(name string) error { return os.Symlink(secret, name) }},
		{"a link to nowhere", func(name string) error { return os.Symlink("nowhere", name) }},
		{"a link to itself", func(name string) error { return os.Symlink(config.ProjectFile, name) }},
		{"a device", func(name string) error { return os.Symlink("/dev/zero", name) }},
		{"a FIFO", func(name string) error { return syscall.Mkfifo(name, 0o666) }},
		{"a directory", func(name string) error { return os.Mkdir(name, 0o755) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := test.put(filepath.Join(dir, config.ProjectFile)); err != nil {
				t.Fatal(err)
			}
			effective := mustLoad(t, "", config.Sources{})
			err := effective.Narrow(dir)
			if err == nil || err.Error() != ".skills-mcp.yaml: it is no regular file; a link is not followed" {
				t.Errorf("%v", err)
			}
			isStrictest(t, effective)
			if origin := effective.Origin("sandbox.backend").String(); origin != "project .skills-mcp.yaml" {
				t.Errorf("off is from %q", origin)
			}
		})
	}
}

// TestUnreadableProjectFile: a file that this user may not read is refused.
func TestUnreadableProjectFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.ProjectFile), nil, 0); err != nil {
		t.Fatal(err)
	}
	effective := mustLoad(t, "", config.Sources{})
	if err := effective.Narrow(dir); err == nil || err.Error() != ".skills-mcp.yaml: permission denied" {
		t.Errorf("%v", err)
	}
	isStrictest(t, effective)
}

// TestHostileGrants: a file that others may have written grants nothing, whatever
// it says.
func TestHostileGrants(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "grants")
	if err := os.WriteFile(elsewhere, []byte("skills: {weather: {root: /s, packages: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		put  func(path string) error
		want string
	}{
		{"a link", func(path string) error { return errors.Join(os.Remove(path), os.Symlink(elsewhere, path)) }, "cannot be used"},
		{"a name of another file", func(path string) error { return os.Link(path, path+".other") }, "is a link or no file"},
		{"a FIFO", func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, "is a link or no file"},
		{"a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "is a link or no file"},
		{"a file of everybody", func(path string) error { return os.Chmod(path, 0o666) }, "can be written by other users"},
		{"a file of the group", func(path string) error { return os.Chmod(path, 0o660) }, "can be written by other users"},
		{"a directory of everybody", func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, "can be written by other users"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := grant(t, dir, "weather", config.Grants{Root: "/s", Packages: true})
			if err := test.put(path); err != nil {
				t.Fatal(err)
			}
			effective, err := config.Load(config.Sources{UserDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			isUnusable(t, effective, test.want)
			if err := effective.Granted.Change(func(map[string]config.Grants) error { return nil }); err == nil {
				t.Error("it is written to")
			}
		})
	}
}
