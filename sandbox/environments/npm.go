package environments

import (
	_ "embed" // the steps and the programs that stand in for installers
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var (
	//go:embed steps/npm.sh
	npmScript string
	//go:embed shims/installer.cjs
	nodeInstaller string
	//go:embed shims/resolve.cjs
	nodeResolver string
)

// npmLock is what matters of a package-lock.json.
type npmLock struct {
	LockfileVersion int
	Packages        map[string]struct {
		Version, Resolved, Integrity string
		Link                         bool
	}
}

// npmFile is where the packages of npm are installed.
func npmFile(name string) string { return filepath.Join("node", "lib", name) }

// resolveNpm has npm decide on versions, or takes the lock of the skill.
func (w *work) resolveNpm() error {
	manifest, err := npmManifest(w.request.Wanted)
	if err != nil {
		return err
	}
	if err := w.write(npmFile("package.json"), manifest); err != nil {
		return err
	}
	if w.request.NpmLock != nil {
		if err := w.write(npmFile("package-lock.json"), w.request.NpmLock); err != nil {
			return err
		}
	}
	if err := w.openToSteps("node", filepath.Join("node", "lib")); err != nil {
		return err
	}
	if err := w.runNpm("lock", "resolve the packages of npm"); err != nil {
		return err
	}
	found, err := w.interpreter("node.json")
	if err != nil {
		return err
	}
	w.interpreters = append(w.interpreters, found)
	text, err := w.read(npmFile("package-lock.json"))
	if err != nil {
		return err
	}
	w.npmLock = string(text)
	return checkNpmLock(text)
}

// openToSteps lets the user of a sandbox write in directories of ours.
func (w *work) openToSteps(names ...string) error {
	for _, name := range names {
		if err := w.dir.Chmod(name, 0o777); err != nil {
			return err
		}
	}
	return nil
}

// npmManifest returns the package.json that is installed.
func npmManifest(wanted Wanted) ([]byte, error) {
	if wanted.NpmManifest != nil && wanted.NpmLock != nil {
		return wanted.NpmManifest, nil
	}
	dependencies := map[string]string{}
	for _, spec := range wanted.Npm {
		at := strings.LastIndex(spec, "@")
		if at < 1 {
			return nil, fmt.Errorf("%q is no package of npm", spec)
		}
		name, version := spec[:at], spec[at+1:]
		if other, twice := dependencies[name]; twice && other != version {
			return nil, fmt.Errorf("the skill asks for two versions of %s: %s and %s", name, other, version)
		}
		dependencies[name] = version
	}
	return json.Marshal(map[string]any{"private": true, "dependencies": dependencies})
}

// checkNpmLock refuses what does not come from an index by a digest.
func checkNpmLock(text []byte) error {
	var lock npmLock
	if err := json.Unmarshal(text, &lock); err != nil || lock.LockfileVersion < 2 {
		return fmt.Errorf("the npm of the sandbox writes no lock of version 2 or newer: it has to be npm 7 or newer")
	}
	for at, locked := range lock.Packages {
		elsewhere := locked.Resolved != "" && !strings.HasPrefix(locked.Resolved, "https://") && !strings.HasPrefix(locked.Resolved, "http://")
		if at != "" && (locked.Link || elsewhere || locked.Integrity == "" || !strings.HasPrefix(at, "node_modules/")) {
			return fmt.Errorf("%w: %.80q is not from the index by a digest", ErrHostile, at)
		}
	}
	return nil
}

func (w *work) runNpm(name, does string) error {
	env, err := w.certificates("../../")
	if err != nil {
		return err
	}
	env["STEP"], env["EXCLUDE_NEWER"], env["npm_config_cache"] = name, w.request.ExcludeNewer, "../../npm-cache"
	if config := w.request.Indexes.npmrc(); config != "" {
		if _, err := w.dir.Lstat("npmrc"); err != nil {
			if err := w.write("npmrc", []byte(config)); err != nil {
				return err
			}
		}
		env["npm_config_userconfig"] = "../../npmrc"
	}
	return w.run(step{name: does, script: npmScript, env: env, online: true})
}

// installNpm has npm install what is locked.
func (w *work) installNpm() error { return w.runNpm("install", "install the packages of npm") }

// keepNpm copies the packages, as npm lays out its global ones, and adds what
// stands in for npm.
func (w *work) keepNpm(c *collector, dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "node"), 0o755); err != nil {
		return err
	}
	if err := c.copy(npmFile(""), filepath.Join(dir, "node", "lib")); err != nil {
		return err
	}
	// A package without programs leaves no directory of them.
	if err := os.MkdirAll(filepath.Join(dir, "node", "lib", "node_modules", ".bin"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join("lib", "node_modules", ".bin"), filepath.Join(dir, "node", "bin")); err != nil {
		return err
	}
	shims := filepath.Join(dir, "nodebin")
	for name, text := range map[string]string{"installer.cjs": nodeInstaller, "resolve.cjs": nodeResolver} {
		if err := writeShim(shims, name, text, 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"npm", "npx"} {
		text := fmt.Sprintf("#!/bin/sh\nunset NODE_OPTIONS\nexec node \"$(dirname -- \"$0\")/installer.cjs\" %s \"$@\"\n", name)
		if err := writeShim(shims, name, text, 0o755); err != nil {
			return err
		}
	}
	return nil
}
