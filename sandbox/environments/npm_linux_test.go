//go:build amd64 || arm64

package environments_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// shouting adds two packages of npm, of which one has a program, needs the other
// and would run a script when it is installed.
func (f *fixture) shouting() environments.Wanted {
	f.node("shout", "2.1.0", map[string]any{
		"bin": map[string]string{"shout": "cli.js"}, "dependencies": map[string]string{"upper-word": "^1"}, "scripts": map[string]string{"postinstall": "touch was-run"},
	}, entries{"index.js": "module.exports = require('upper-word')\n", "cli.js": "#!/usr/bin/env node\nconsole.log('shout', require('upper-word'), process.argv.slice(2).join(' '))\n"})
	f.node("upper-word", "1.0.3", map[string]any{}, entries{"index.js": "module.exports = 'HELLO'\n"})
	f.node("@own/module", "1.0.0", map[string]any{"type": "module", "exports": "./main.js"}, entries{"main.js": "export default 'MODULE'\n"})
	return environments.Wanted{Npm: []string{"@own/module@*", "shout@^2"}}
}

func TestNpm(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an environment")
	f := newFixture(t)
	made := f.prepare(t, f.shouting())
	if len(made.Packages) != 3 || made.Packages[1] != (environments.Package{Kind: "npm", Name: "shout", Version: "2.1.0"}) {
		t.Errorf("packages %v", made.Packages)
	}
	files := entries{
		"a.cjs": "console.log('cjs', require('shout'))\n", "a.mjs": "import shout from 'shout';\nimport own from '@own/module';\nconsole.log('mjs', shout, own)\n",
		"absent.mjs": "import 'absent';\n", "package.json": `{"dependencies": {"shout": "^2.0.0"}}`,
	}
	for name, test := range map[string]struct{ shell, want string }{
		"require":                 {"node a.cjs", "cjs HELLO"},
		"import":                  {"node a.mjs", "mjs HELLO MODULE"},
		"its program":             {"shout x", "shout HELLO x"},
		"npx":                     {"npx -y shout a b", "shout HELLO a b"},
		"npx with a version":      {"npx --yes shout@latest a", "shout HELLO a"},
		"npx --package":           {"npx -p shout@^2 -c 'shout a'", "shout HELLO a"},
		"npm exec":                {"npm exec -- shout a", "shout HELLO a"},
		"npm install -g":          {"npm install -g shout @own/module@1", "Already there"},
		"npm i with a range":      {"npm i --no-audit 'shout@>=2 <3'", "shout@2.1.0"},
		"npm ci":                  {"npm ci", "shout@2.1.0"},
		"npm ls":                  {"npm ls -g", "shout@2.1.0"},
		"no script of it was run": {`ls "$NODE_PATH/shout"; [ ! -e "$NODE_PATH/shout/was-run" ] && echo not run`, "not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.expect(t, made, test.shell, files, test.want)
		})
	}
	for name, test := range map[string]struct{ shell, want string }{
		"npx of what is missing":         {"npx -y absent", "skills-mcp prepare"},
		"npx of another version":         {"npx shout@3 x", "skills-mcp prepare"},
		"npm install of what is missing": {"npm install shout absent", "not there: absent"},
		"npm install of another version": {"npm install shout@3", "not there: shout@3"},
		"npm install of a directory":     {"npm install ./x", "not there: ./x"},
		"a path as a package":            {"npm install ../../etc", "not there"},
		"import of what is missing":      {"node absent.mjs", "Cannot find package 'absent'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := f.run(t, made, test.shell, files)
			if got := string(result.Stderr.Data); result.ExitCode == 0 || !strings.Contains(got, test.want) {
				t.Errorf("%s: %s %d\nstdout: %s\nstderr: %s\nwant %q", test.shell, result.Status, result.ExitCode, result.Stdout.Data, got, test.want)
			}
		})
	}
}

func TestNpmLockOfTheSkill(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an environment")
	f := newFixture(t)
	wanted := f.shouting()
	wanted.Npm = []string{"upper-word@^1"}
	wanted.NpmManifest = []byte(`{"dependencies":{"upper-word":"^1"}}`)
	lock := func(integrity string) []byte {
		return []byte(`{"lockfileVersion": 3, "requires": true, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {"version": "1.0.3", "resolved": "http://index.test/npm/upper-word/-/1.0.3.tgz", "integrity": "` + integrity + `"}}}`)
	}
	wanted.NpmLock = lock(f.integrity("upper-word", "1.0.3"))
	f.expect(t, f.prepare(t, wanted), `node -p 'require("upper-word")'`, nil, "HELLO")
	wanted.NpmLock = lock("sha512-" + strings.Repeat("A", 86) + "==")
	if _, err := f.store.Prepare(t.Context(), f.request(t, wanted)); err == nil || !strings.Contains(err.Error(), "EINTEGRITY") {
		t.Errorf("with another digest: %v", err)
	}
}

// TestHostileNpmLock: what is installed is what the lock says to npm, of the names
// that the user was shown, by digests.
func TestHostileNpmLock(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "environments that are not made")
	const hello = `"version": "1.0.3", "resolved": "http://index.test/npm/upper-word/-/1.0.3.tgz"`
	for name, lock := range map[string]string{
		"another package by its name": `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {"version": "1.0.3", "resolved": "http://index.test/npm/evil/-/1.0.0.tgz", "integrity": "EVIL"}}}`,
		"another one of a scope": `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {"version": "1.0.3", "resolved": "http://index.test/npm/@evil/upper-word/-/1.0.0.tgz", "integrity": "SCOPED"}}}`,
		"a way around its name": `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {"version": "1.0.3", "resolved": "http://index.test/npm/upper-word/%2e%2e/evil/-/1.0.0.tgz", "integrity": "EVIL"}}}`,
		"an alias": `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {"name": "evil", "version": "1.0.3", "integrity": "EVIL"}}}`,
		"no digest, for those who read capitals": `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {` + hello + `}}, "PACKAGES": {"node_modules/upper-word": {` + hello + `, "integrity": "HELLO"}}}`,
		"a digest in capitals": `{"lockfileVersion": 3, "packages": {"": {"dependencies": {"upper-word": "^1"}},
			"node_modules/upper-word": {` + hello + `, "INTEGRITY": "HELLO"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			wanted := f.shouting()
			f.node("evil", "1.0.0", map[string]any{}, entries{"index.js": "module.exports = 'EVIL'\n"})
			f.node("@evil/upper-word", "1.0.0", map[string]any{}, entries{"index.js": "module.exports = 'EVIL'\n"})
			wanted.Npm = []string{"upper-word@^1"}
			wanted.NpmManifest = []byte(`{"dependencies":{"upper-word":"^1"}}`)
			wanted.NpmLock = []byte(strings.NewReplacer("EVIL", f.integrity("evil", "1.0.0"), "SCOPED", f.integrity("@evil/upper-word", "1.0.0"),
				"HELLO", f.integrity("upper-word", "1.0.3")).Replace(lock))
			made, err := f.store.Prepare(t.Context(), f.request(t, wanted))
			if err == nil {
				result := f.run(t, made, `node -p 'require("upper-word")'`, nil)
				t.Fatalf("it was prepared: %v, with which it is %s", made.Packages, result.Stdout.Data)
			}
			if !errors.Is(err, environments.ErrHostile) {
				t.Errorf("%v, want %v", err, environments.ErrHostile)
			}
			f.unchanged(t)
		})
	}
}
