package environments

import (
	_ "embed" // the steps and the programs that stand in for installers
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	//go:embed steps/python.sh
	resolvePythonScript string
	//go:embed steps/install.sh
	installPythonScript string
	//go:embed steps/bytecode.sh
	bytecodeScript string
	//go:embed shims/installer.py
	pythonInstaller string
	//go:embed shims/pip.py
	pipModule string
)

// resolvePython has uv decide on versions, and demands of them the hashes that
// files of the skill state.
func (w *work) resolvePython() error {
	if err := w.write("requirements.in", []byte(strings.Join(w.request.Python, "\n")+"\n")); err != nil {
		return err
	}
	env, err := w.certificates("")
	if err != nil {
		return err
	}
	env["EXCLUDE_NEWER"], env["UV_CACHE_DIR"] = w.request.ExcludeNewer, "cache"
	if err := w.run(step{name: "resolve the Python packages", needs: "Python", script: resolvePythonScript, env: env, online: true}); err != nil {
		return err
	}
	found, err := w.interpreter("interpreter.json")
	if err != nil {
		return err
	}
	w.interpreters = append(w.interpreters, found)
	for _, required := range w.request.RequiresPython {
		if !satisfies(found.Version, required) {
			return fmt.Errorf("the skill asks for Python %s, and the sandbox has %s", required, found.Version)
		}
	}
	text, err := w.read("requirements.txt")
	if err != nil {
		return err
	}
	if w.lock.Python, err = demandHashes(string(text), w.request.Wanted); err != nil {
		return err
	}
	return w.write("locked.txt", []byte(w.lock.Python))
}

// interpreter reads what a step says of one.
func (w *work) interpreter(name string) (found interpreter, err error) {
	text, err := w.read(name)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err == nil && (!filepath.IsAbs(found.Path) || found.Version == "") {
		err = fmt.Errorf("%w: the interpreter does not say what it is", ErrHostile)
	}
	return found, err
}

var (
	lockedLine = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]*)==([A-Za-z0-9.+!_-]+)(\s*;[^\\]*)?\s*\\?$`)
	lockedHash = regexp.MustCompile(`^\s+--hash=(sha256:[0-9a-f]{64})\s*\\?$`)
)

// lockedPackage is one entry of a file of requirements that uv wrote.
type lockedPackage struct {
	name, version string
	hashes        []string
}

// readLock reads what uv decided, of which nothing else may be there.
func readLock(text string) (all []lockedPackage, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if hash := lockedHash.FindStringSubmatch(line); hash != nil && len(all) > 0 {
			last := &all[len(all)-1]
			last.hashes = append(last.hashes, hash[1])
		} else if parts := lockedLine.FindStringSubmatch(line); parts != nil {
			all = append(all, lockedPackage{name: parts[1], version: parts[2]})
		} else if line != "" {
			return nil, fmt.Errorf("the lock has a line that is not understood: %.80q", line)
		}
	}
	for _, p := range all {
		if len(p.hashes) == 0 {
			return nil, fmt.Errorf("the index states no SHA-256 of %s %s", p.name, p.version)
		}
	}
	return all, nil
}

// requirementName begins a requirement, as package needs writes them.
var requirementName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*`)

// demandHashes returns the lock with those hashes alone that files of the skill
// state, for the packages of which they state any.
func demandHashes(text string, wanted Wanted) (string, error) {
	locked, err := readLock(text)
	if err != nil {
		return "", err
	}
	demanded := map[string][]string{}
	for requirement, hashes := range wanted.Hashes {
		name := requirementName.FindString(requirement)
		demanded[name] = append(demanded[name], hashes...)
	}
	var out strings.Builder
	for _, p := range locked {
		if own := demanded[p.name]; len(own) > 0 {
			p.hashes = slices.DeleteFunc(p.hashes, func(hash string) bool { return !slices.Contains(own, hash) })
			if len(p.hashes) == 0 {
				return "", fmt.Errorf("the index has no file of %s %s with a hash that the skill demands", p.name, p.version)
			}
		}
		fmt.Fprintf(&out, "%s==%s --hash=%s\n", p.name, p.version, strings.Join(p.hashes, " --hash="))
	}
	return out.String(), nil
}

// installPython has uv install what is locked, and compiles it. The index is
// reached by uv alone, before anything runs that packages bring.
func (w *work) installPython() error {
	env, err := w.certificates("")
	if err != nil {
		return err
	}
	env["UV_CACHE_DIR"] = "cache"
	script := strings.ReplaceAll(installPythonScript, "requirements.txt", "locked.txt")
	if err := w.run(step{name: "install the Python packages", script: script, env: env, online: true}); err != nil {
		return err
	}
	return w.run(step{name: "compile the Python modules", script: bytecodeScript})
}

// keepPython copies the virtual environment, and adds what stands in for
// installers.
func (w *work) keepPython(c *collector, dir string) error {
	python := filepath.Join(dir, "python")
	// The interpreter is not the packages' to choose.
	c.skip = func(name string) bool { return pythonProgram.MatchString(name) }
	if err := c.copy("python", python); err != nil {
		return err
	}
	c.skip = nil
	path := w.interpreters[0].Path
	links := map[string]string{"python": path, "python3": "python"}
	if version := strings.SplitN(w.interpreters[0].Version, ".", 3); len(version) > 1 {
		links["python"+version[0]+"."+version[1]] = "python"
	}
	for name, target := range links {
		if err := replaceLink(filepath.Join(python, "bin", name), target); err != nil {
			return err
		}
	}
	final, uv := filepath.Join(w.store.Dir, w.name), filepath.Join(w.store.Dir, toolsDir, w.lock.UV, "uv")
	if err := writeShim(filepath.Join(dir, "bin"), "installer.py", pythonInstaller, 0o644); err != nil {
		return err
	}
	for _, name := range []string{"pip", "pip3", "uv", "uvx"} {
		text := fmt.Sprintf("#!/bin/sh\nexec %s -I -S %s %s %s \"$@\"\n", shellQuoted(filepath.Join(final, "python", "bin", "python")),
			shellQuoted(filepath.Join(final, "bin", "installer.py")), name, shellQuoted(uv))
		if err := writeShim(filepath.Join(dir, "bin"), name, text, 0o755); err != nil {
			return err
		}
	}
	return w.addPip(python)
}

// pythonProgram is what a virtual environment calls its interpreter.
var pythonProgram = regexp.MustCompile(`^python/bin/python[0-9.]*$`)

// addPip makes "python -m pip" what "pip" is, unless the skill asks for pip.
func (w *work) addPip(python string) error {
	libraries, err := filepath.Glob(filepath.Join(python, "lib", "python3.*", "site-packages"))
	if err != nil || len(libraries) != 1 {
		return fmt.Errorf("the virtual environment has %d directories of packages", len(libraries))
	}
	dir := filepath.Join(libraries[0], "pip")
	if slices.ContainsFunc(w.packages(false), func(p Package) bool { return p.Name == "pip" }) {
		return nil
	}
	// Another package may have brought one, which is compiled too.
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range map[string]string{"__init__.py": "", "__main__.py": pipModule} {
		if err := writeShim(dir, name, text, fs.FileMode(0o644)); err != nil {
			return err
		}
	}
	return nil
}

// packages returns what is locked: without all, of npm's packages only those that
// programs find.
func (w *work) packages(all bool) (found []Package) {
	for line := range strings.Lines(w.lock.Python) {
		requirement, _, _ := strings.Cut(line, " ")
		if name, version, locked := strings.Cut(requirement, "=="); locked {
			found = append(found, Package{Kind: "python", Name: name, Version: version})
		}
	}
	for at, locked := range w.modules {
		name := at[strings.LastIndex(at, modulesDir)+len(modulesDir):]
		if all || modulesDir+name == at {
			found = append(found, Package{Kind: "npm", Name: name, Version: locked.version})
		}
	}
	return sortedPackages(found)
}
