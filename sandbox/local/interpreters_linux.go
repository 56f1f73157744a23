//go:build amd64 || arm64

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// interpreters are the programs for whose sake a directory outside of the
// system's is shown.
var interpreters = []string{
	"python3", "python", "node", "bun", "deno", "tsx", "ruby", "perl", "php", "lua", "Rscript", "fish", "zsh", "pwsh", "bash", "uv",
}

// installation is where interpreters are.
type installation struct {
	prefixes []string // directories to show
	path     process.SearchPath
}

// findInterpreters gives, for a PATH of the host, the one to use inside, and
// what it takes to show for that. What of the host is shown anyway, shown
// tells.
func findInterpreters(path process.SearchPath, shown func(string) bool) installation {
	var found installation
	for _, dir := range path {
		switch {
		case shown(dir):
			found.use(filepath.Clean(dir), "")
		case filepath.Base(dir) == "shims":
			for _, prefix := range shimmed(filepath.Dir(dir)) {
				found.use(filepath.Join(prefix, "bin"), prefix)
			}
		default:
			for _, name := range interpreters {
				bin, prefixes := installed(filepath.Join(dir, name), shown)
				for _, prefix := range prefixes {
					found.use(bin, prefix)
				}
			}
		}
	}
	return found
}

func (i *installation) use(bin, prefix string) {
	if prefix != "" {
		if !mayBeShown(prefix) {
			return
		}
		if !slices.Contains(i.prefixes, prefix) {
			i.prefixes = append(i.prefixes, prefix)
		}
	}
	if !slices.Contains(i.path, bin) {
		i.path = append(i.path, bin)
	}
}

// shimmed gives the prefixes that the shims of pyenv, rbenv or nodenv stand
// for: their manager keeps each version in a directory of its own, and the
// names of those in use in a file. A shim itself would be of no use inside.
func shimmed(root string) (prefixes []string) {
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
		if err == nil && within(prefix, filepath.Join(root, "versions")) && isDir(filepath.Join(prefix, "bin")) {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// installed gives the directory in which an interpreter is to be found inside,
// and the prefixes to show for it: that of the program itself and, where it is
// in a virtual environment of Python, that of the environment.
func installed(name string, shown func(string) bool) (bin string, prefixes []string) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", nil
	}
	if !shown(real) {
		prefix := filepath.Dir(filepath.Dir(real))
		if keg, _, brewed := strings.Cut(real, "/Cellar/"); brewed {
			prefix = keg // whose parts need each other
		}
		if filepath.Base(filepath.Dir(real)) != "bin" || !isDir(filepath.Join(prefix, "lib")) {
			return "", nil
		}
		bin, prefixes = filepath.Join(prefix, "bin"), []string{prefix}
	}
	environment := filepath.Dir(filepath.Dir(name))
	if _, err := os.Stat(filepath.Join(environment, "pyvenv.cfg")); err == nil {
		bin, prefixes = filepath.Dir(name), append(prefixes, environment)
	}
	return bin, prefixes
}

// mayBeShown refuses directories that hold more than an installation, and
// those that a run has for itself.
func mayBeShown(prefix string) bool {
	if strings.Count(prefix, "/") < 2 || filepath.Base(prefix) == ".local" {
		return false
	}
	home, _ := os.UserHomeDir()
	project, _ := os.Getwd()
	for _, dir := range []string{home, project, "/home", "/root", "/etc", "/var/lib", "/run"} {
		if dir != "" && within(dir, prefix) {
			return false
		}
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev", "/proc", "/sys", "/run", "/etc", skillDir, workspace, private} {
		if within(prefix, dir) {
			return false
		}
	}
	return true
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
