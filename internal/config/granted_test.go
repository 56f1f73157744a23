package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/config"
)

// weather is what a skill may be granted.
var weather = config.Grants{
	Root: "/home/u/skills",
	Network: config.Network{
		Hosts: rules("api.example.com", "*.example.org", "http://files.example.com"), MaxBytes: 1 << 20, MaxRequests: 10,
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	},
	Secrets: map[string]config.Secret{
		"API_KEY": {Source: source("command:pass show api"), For: rules("api.example.com"), Body: true}, "SIGN_KEY": {Mode: config.Plain},
	},
	Packages: true, Show: []string{"/opt/a tool"}, Pin: config.PinDigest, Digest: "sha256:" + strings.Repeat("0", 64),
}

// grant has a skill be granted what it says, and returns the file's path.
func grant(t testing.TB, userDir, skill string, grants config.Grants) string {
	t.Helper()
	file := config.OpenGranted(userDir)
	err := file.Change(func(skills map[string]config.Grants) error {
		skills[skill] = grants
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return file.Path()
}

func TestGrantsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := grant(t, dir, "weather", weather)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "# Written by 'skills-mcp grant'") {
		t.Errorf("%v\n%s", err, text)
	}
	effective, err := config.Load(config.Sources{UserDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	got, err := effective.Grants("weather")
	if diff := cmp.Diff(weather, got, compareGrants); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(weather, effective.Skill("weather").Grants, compareGrants); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if origin := effective.Origin("skills.weather.network.hosts").String(); origin != path+":7" {
		t.Errorf("the hosts are from %s\n%s", origin, text)
	}
	if printed := string(effective.YAML()); !strings.Contains(printed, "- api.example.com # "+path+":7\n") {
		t.Errorf("where it is from is not printed:\n%s", printed)
	}
}

// TestRevokedAtOnce: who has read the grants sees that one is gone.
func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grant(t, dir, "weather", weather)
	effective, err := config.Load(config.Sources{UserDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"a.example.com", "b.example.com", "c.example.com"} { // files of one size
		grant(t, dir, "weather", config.Grants{Root: "/s", Network: config.Network{Hosts: rules(host)}})
		if got, err := effective.Grants("weather"); err != nil || !slices.Equal(got.Network.Hosts, rules(host)) {
			t.Errorf("%v: %v, want %v", err, got.Network.Hosts, host)
		}
	}
	grant(t, dir, "weather", config.Grants{})
	if got, err := effective.Grants("weather"); err != nil || !got.None() {
		t.Errorf("%v: %+v", err, got)
	}
	if err := os.Remove(effective.Granted.Path()); err != nil {
		t.Fatal(err)
	}
	if all, err := effective.Granted.All(); err != nil || len(all) > 0 {
		t.Errorf("%v: %v", err, all)
	}
}

// TestOwnGrantsWin: what the user wrote of a skill's grants is all that holds.
func TestOwnGrantsWin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grant(t, dir, "weather", weather)
	grant(t, dir, "other", config.Grants{Root: "/s", Packages: true})
	file := filepath.Join(dir, "skills-mcp", "config.yaml")
	const own = "skills:\n  weather: {root: ~/own, packages: true}\n  other: {limits: {processes: 8}}\n"
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	effective, err := config.Load(config.Sources{UserDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := effective.Grants("weather"); err != nil || got.Root != "~/own" || !got.Packages || len(got.Secrets) > 0 {
		t.Errorf("%v: %+v", err, got)
	}
	if got, err := effective.Grants("other"); err != nil || got.Root != "/s" || effective.Skills["other"].Limits.Processes != 8 {
		t.Errorf("%v: %+v", err, got)
	}
	want := "what grants.yaml says of weather is left out, since the section at " + file + ":2 says what it is granted"
	if diff := cmp.Diff([]string{want}, effective.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnusableGrants: of a file that cannot be used nothing is granted, that is
// said, and it stays as it is.
func TestUnusableGrants(t *testing.T) {
	t.Parallel()
	const good = "skills: {weather: {root: /s, packages: true}}\n"
	for _, test := range []struct{ name, file, want string }{
		{"no YAML", "skills: {", "is not YAML that can be read"},
		{"another group", "sandbox: {backend: off}\n" + good, `:1:1: sandbox: unknown key "sandbox"; there are skills`},
		{"limits", "skills: {weather: {limits: {processes: 8}}}\n", `skills.weather.limits: unknown key "limits"`},
		{"no root", "skills:\n  weather: {packages: true}\n", ":2:3: skills.weather: lacks root"},
		{"no hosts of a secret", "skills: {weather: {root: /s, secrets: {KEY: {}}}}\n", "skills.weather.secrets.KEY: lacks for"},
		{"too long", good + strings.Repeat("#", 1<<20), "it is too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := grant(t, dir, "weather", config.Grants{})
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			effective, err := config.Load(config.Sources{UserDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			isUnusable(t, effective, test.want)
			if len(effective.Warnings) != 1 || !strings.Contains(effective.Warnings[0], test.want) {
				t.Errorf("warnings: %q", effective.Warnings)
			}
			err = effective.Granted.Change(func(map[string]config.Grants) error { return errors.New("it is changed") })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("changing it: %v", err)
			}
			if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := effective.Grants("weather"); err != nil || !got.Packages {
				t.Errorf("after it was mended: %+v, %v", got, err)
			}
		})
	}
}

func isUnusable(t *testing.T, effective *config.Effective, want string) {
	t.Helper()
	got, err := effective.Grants("weather")
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing of grants.yaml is granted") {
		t.Errorf("%v, want %q", err, want)
	}
	if !got.None() || len(effective.Skills) > 0 {
		t.Errorf("granted: %+v", got)
	}
}

// TestGrantsAreChangedInTurns: of changes at once none is lost, and one that fails
// leaves nothing.
func TestGrantsAreChangedInTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var changes sync.WaitGroup
	want := []string{}
	for i := range 8 {
		name := fmt.Sprintf("skill-%d", i)
		want = append(want, name)
		changes.Go(func() { grant(t, dir, name, config.Grants{Root: "/s", Packages: true}) })
	}
	changes.Wait()
	file := config.OpenGranted(dir)
	failed := errors.New("no such skill")
	err := file.Change(func(skills map[string]config.Grants) error {
		clear(skills)
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	err = file.Change(func(skills map[string]config.Grants) error {
		skills["skill-0"] = config.Grants{Packages: true}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "lacks root") {
		t.Errorf("what cannot be read again is written: %v", err)
	}
	all, err := file.All()
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(all))); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestNoDirectoryForGrants(t *testing.T) {
	t.Parallel()
	file := config.OpenGranted("")
	if got, err := file.Of("weather"); err != nil || !got.None() || file.Path() != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := file.Change(func(map[string]config.Grants) error { return nil }); err == nil {
		t.Error("it was written somewhere")
	}
	dir := t.TempDir()
	if _, err := config.Load(config.Sources{UserDir: dir}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "skills-mcp")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a directory is made by looking")
	}
}
