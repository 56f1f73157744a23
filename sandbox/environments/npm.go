package environments

import (
	_ "embed" // the steps and the programs that stand in for installers
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
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

// modulesDir is the directory of packages beside what imports them.
const modulesDir = "node_modules/"

// lockedModule is what matters of one package of a package-lock.json.
type lockedModule struct{ name, version, resolved, integrity string }

// readNpmLock reads the packages of a lock by where they are installed. It reads
// as npm does, to which a key in capitals is another one, and refuses what does
// not come from an index by a digest.
func readNpmLock(text []byte) (map[string]lockedModule, error) {
	var lock struct {
		version  float64
		packages map[string]map[string]any
	}
	var keys map[string]json.RawMessage
	err := json.Unmarshal(text, &keys)
	if err == nil {
		err = errors.Join(json.Unmarshal(keys["lockfileVersion"], &lock.version), json.Unmarshal(keys["packages"], &lock.packages))
	}
	if err != nil || lock.version < 2 {
		return nil, errors.New("the npm of the sandbox writes no lock of version 2 or newer: it has to be npm 7 or newer")
	}
	modules := map[string]lockedModule{}
	for at, locked := range lock.packages {
		if at == "" {
			continue // which is what asks for them
		}
		value := func(key string) string { text, _ := locked[key].(string); return text }
		m := lockedModule{value("name"), value("version"), value("resolved"), value("integrity")}
		_, stated := locked["resolved"]
		elsewhere := stated && !strings.HasPrefix(m.resolved, "https://") && !strings.HasPrefix(m.resolved, "http://")
		if _, link := locked["link"]; link || elsewhere || m.integrity == "" || !strings.HasPrefix(at, modulesDir) {
			return nil, fmt.Errorf("%w: %.80q is not from the index by a digest", ErrHostile, at)
		}
		modules[at] = m
	}
	return modules, nil
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
	w.lock.Npm = string(text)
	if w.modules, err = readNpmLock(text); err == nil && w.request.NpmLock != nil {
		err = checkNpmNames(w.modules, w.request.Npm)
	}
	return err
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

// checkNpmNames refuses a lock of a skill that has other packages in the place of
// those that it names: of what is asked for, that is what the user saw.
func checkNpmNames(modules map[string]lockedModule, wanted []string) error {
	asked := map[string]bool{}
	for _, spec := range wanted {
		asked[modulesDir+spec[:max(strings.LastIndex(spec, "@"), 0)]] = true
	}
	for at, locked := range modules {
		name := at[strings.LastIndex(at, modulesDir)+len(modulesDir):]
		if locked.name != "" && !asked[at] {
			name = locked.name // packages ask for others by names of their own
		}
		if locked.name != "" && locked.name != name || locked.resolved != "" && !isPackageAt(locked.resolved, name) {
			return fmt.Errorf("%w: the lock of the skill has another package in the place of %.80q", ErrHostile, name)
		}
	}
	return nil
}

// isPackageAt reports whether a file of an index is by its address one of the
// package.
func isPackageAt(address, name string) bool {
	parsed, err := url.Parse(address)
	if err != nil || path.Clean(parsed.Path) != parsed.Path {
		return false
	}
	before, _, found := strings.Cut(parsed.Path, "/"+name+"/")
	scoped := strings.HasPrefix(before[strings.LastIndexByte(before, '/')+1:], "@")
	return found && !scoped
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
	return w.run(step{name: does, needs: "npm", script: npmScript, env: env, online: true})
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
