//go:build amd64 || arm64

package local

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// findPackages shows the packages that the user has installed apart from the
// interpreters.
func (l *layout) findPackages() {
	if program, ok := l.look("python3"); ok && !isEnvironment(filepath.Dir(filepath.Dir(program))) {
		l.pythonPackages(program)
	}
	if program, ok := l.look("node"); ok {
		l.nodePackages(program)
	}
}

// pythonVersion is how the file of an interpreter is called.
var pythonVersion = regexp.MustCompile(`^python(3\.[0-9]+)$`)

// pythonPackages shows the user's own packages ("pip install --user") of an
// interpreter. A virtual environment has none.
func (l *layout) pythonPackages(program string) {
	program, _, err := follow(program)
	if err != nil {
		return
	}
	version := pythonVersion.FindStringSubmatch(filepath.Base(program))
	base := cmp.Or(os.Getenv("PYTHONUSERBASE"), filepath.Join(l.home, ".local"))
	if version == nil || !filepath.IsAbs(base) || os.Getenv("PYTHONNOUSERSITE") != "" {
		return
	}
	library := filepath.Join("lib", "python"+version[1])
	dir, err := filepath.EvalSymlinks(filepath.Join(base, library, "site-packages"))
	if err != nil || !l.mayShare(dir) {
		return
	}
	// PYTHONPATH comes before Python's own modules, as the user's site does not.
	own := entriesLike(filepath.Join(filepath.Dir(filepath.Dir(program)), library), "*")
	for _, name := range entriesLike(dir, "*") {
		if slices.Contains(own, name) && name != "__pycache__" && name != "site-packages" {
			l.hidden[dir] = fmt.Errorf("%q there would take the place of Python's own", name)
			return
		}
	}
	l.share(dir)
	l.variables["PYTHONPATH"] = dir
}

// nodePackages shows the packages that were installed with npm's option
// --global, of the prefix that the user has set, else of that of Node.js.
func (l *layout) nodePackages(program string) {
	program, _, err := follow(program)
	if err != nil {
		return
	}
	prefixes := []string{l.npmPrefix(), filepath.Dir(filepath.Dir(program)), "/usr/local"}
	var found []string
	for _, prefix := range prefixes {
		dir := filepath.Join(prefix, "lib", "node_modules")
		if filepath.IsAbs(prefix) && isReal(dir) && l.mayShare(dir) && !slices.Contains(found, dir) {
			l.share(dir)
			l.globalPrograms(prefix)
			found = append(found, dir)
		}
	}
	if len(found) > 0 {
		l.variables["NODE_PATH"] = strings.Join(found, ":")
	}
}

// npmPrefix returns the prefix that the user has set for npm.
func (l *layout) npmPrefix() string {
	config := cmp.Or(os.Getenv("NPM_CONFIG_USERCONFIG"), filepath.Join(l.home, ".npmrc"))
	prefix := cmp.Or(os.Getenv("NPM_CONFIG_PREFIX"), os.Getenv("npm_config_prefix"), strings.Trim(setting(config, "prefix"), `"'`))
	for _, home := range []string{"~/", "${HOME}/", "$HOME/"} {
		if rest, found := strings.CutPrefix(prefix, home); found && l.home != "" {
			prefix = filepath.Join(l.home, rest)
		}
	}
	real, err := filepath.EvalSymlinks(prefix)
	if err != nil {
		return ""
	}
	return real
}

// globalPrograms makes the links by which npm installs the programs of global
// packages, and no other file of the directory.
func (l *layout) globalPrograms(prefix string) {
	bin := filepath.Join(prefix, "bin")
	if l.holds(bin) || !isReal(bin) {
		return
	}
	for _, name := range entriesLike(bin, "*") {
		name = filepath.Join(bin, name)
		target, err := os.Readlink(name)
		if real, found := filepath.EvalSymlinks(name); err == nil && found == nil && pathname.Within(real, filepath.Join(prefix, "lib", "node_modules")) {
			l.links = append(l.links, jail.Link{Path: name, Target: target})
			l.use(bin)
		}
	}
}

// mayShare reports whether a directory of packages can be shown: a real path.
func (l *layout) mayShare(dir string) bool {
	info, err := os.Stat(dir)
	if err == nil {
		err = l.mayShow(dir)
	}
	if err == nil && !l.readable(info) {
		err = os.ErrPermission
	}
	if err != nil {
		l.hidden[dir] = err
	}
	return err == nil
}
