//go:build amd64 || arm64

package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// interpreters are the programs for whose sake a directory outside of the
// system's is shown.
var interpreters = []string{
	"python3", "python", "node", "bun", "deno", "ruby", "perl", "php", "lua", "Rscript", "fish", "zsh", "pwsh", "bash", "uv",
}

// findInterpreters shows what it takes to run the interpreters of a PATH of the
// host, and before them those of the virtual environment in use.
func (l *layout) findInterpreters() {
	if dir := l.environmentInUse(); dir != "" {
		l.environment(dir)
	}
	for _, dir := range process.NewSearchPath(l.surroundings.path) {
		dirs := []string{filepath.Clean(dir)}
		if filepath.Base(dir) == "shims" && !l.shows(dir) {
			dirs = shimmed(filepath.Dir(dir))
		}
		for _, dir := range dirs {
			if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" && isEnvironment(prefix) {
				l.environment(prefix)
			} else {
				l.interpreters(dir)
			}
		}
	}
}

// environmentInUse returns the directory of the virtual environment that was
// activated, else that of the project.
func (l *layout) environmentInUse() string {
	if dir := os.Getenv("VIRTUAL_ENV"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	dir := filepath.Join(l.project, ".venv")
	if l.project == "" || os.Getenv("CONDA_PREFIX") != "" || !isEnvironment(dir) {
		return ""
	}
	return dir
}

// interpreters shows the interpreters of a directory. One that the system has
// may have links to some elsewhere.
func (l *layout) interpreters(dir string) {
	if l.shows(dir) {
		l.use(dir)
	}
	for _, name := range interpreters {
		program, _, err := follow(filepath.Join(dir, name))
		if err != nil || l.holds(program) {
			continue
		}
		parts, err := l.installation(program, name)
		if err != nil {
			l.hidden[filepath.Join(dir, name)] = err
			continue
		}
		l.share(parts...)
		l.links = append(l.links, siblingLinks(parts)...)
		l.use(binOf(parts, program))
	}
}

// binOf returns the directory of programs of an installation.
func binOf(parts []string, program string) string {
	for _, part := range parts {
		if filepath.Base(part) == "bin" {
			return part
		}
	}
	return filepath.Dir(program)
}

// siblingLinks returns the links from one part of an installation to another:
// lib64 is often the same as lib.
func siblingLinks(parts []string) (links []jail.Link) {
	for _, part := range parts {
		for _, name := range installationParts {
			name = filepath.Join(filepath.Dir(part), name)
			if target, err := os.Readlink(name); err == nil && target == filepath.Base(part) {
				links = append(links, jail.Link{Path: name, Target: target})
			}
		}
	}
	return links
}

// environment shows a virtual environment with the Python that it was made of,
// or neither.
func (l *layout) environment(named string) {
	if err := l.showEnvironment(named); err != nil {
		l.hidden[named] = err
		l.environmentHidden = l.environmentHidden || isEnvironment(named)
	}
}

func (l *layout) showEnvironment(named string) error {
	dir, links, err := follow(named)
	if err != nil {
		return err
	}
	if !isEnvironment(dir) {
		return errors.New("there is no " + environmentConfig)
	}
	parts, err := l.environmentParts(dir)
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if !isReal(bin) {
		return errors.New("there is no bin")
	}
	for _, name := range append(entriesLike(bin, "python", "python[23]*", "pypy*"), "python3") {
		base, more, err := l.pythonOf(dir, name)
		if err != nil && name != "python3" {
			continue // a link of times past, or a program that is called so
		}
		if err != nil {
			return err
		}
		parts, links = append(parts, base...), append(links, more...)
	}
	l.share(parts...)
	l.links = append(append(l.links, links...), siblingLinks(parts)...)
	l.use(bin)
	return nil
}

// pythonOf returns what is to be shown for an interpreter in a virtual
// environment: the links that lead to the one that it was made of, or the copy
// of that, and the installation of that.
func (l *layout) pythonOf(dir, name string) (parts []string, links []jail.Link, err error) {
	program, links, err := follow(filepath.Join(dir, "bin", name))
	if err != nil {
		return nil, nil, err
	}
	if pathname.Within(program, dir) && isNative(program) {
		parts = append(parts, program)
		home := setting(filepath.Join(dir, environmentConfig), "home") // where that is
		program, _, err = follow(filepath.Join(home, name))
		if err != nil || !filepath.IsAbs(home) {
			return parts, links, nil // one of the others is there
		}
	}
	if l.holds(program) {
		return parts, links, nil
	}
	base, err := l.installation(program, name)
	return append(parts, base...), append(links, siblingLinks(base)...), err
}

// shimmed returns the directories that the shims of pyenv, rbenv or nodenv stand
// for: their manager keeps each version in a directory of its own, and the
// names of those in use in a file. A shim itself would be of no use inside.
func shimmed(root string) (dirs []string) {
	chosen := os.Getenv(strings.ToUpper(strings.TrimPrefix(filepath.Base(root), ".")) + "_VERSION")
	if chosen == "" {
		content, err := os.ReadFile(filepath.Join(root, "version"))
		if err != nil {
			return nil
		}
		chosen = string(content)
	}
	for _, version := range strings.FieldsFunc(chosen, func(r rune) bool { return strings.ContainsRune(": \t\r\n", r) }) {
		prefix, err := filepath.EvalSymlinks(filepath.Join(root, "versions", version))
		if bin := filepath.Join(prefix, "bin"); err == nil && pathname.Within(prefix, filepath.Join(root, "versions")) && isDir(bin) {
			dirs = append(dirs, bin)
		}
	}
	return dirs
}
