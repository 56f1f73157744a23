//go:build amd64 || arm64

package local

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// tmpBytes bounds /tmp, which is in memory.
const tmpBytes = 256 << 20

// layout is what of this machine programs see.
type layout struct {
	surroundings
	mounts []jail.Mount // of the system
	// shared are those of other installations and what the operator named:
	// they may be gone tomorrow, or out of reach for other users.
	shared []jail.Mount
	links  []jail.Link
	path   process.SearchPath
	// alias is a name for a program that is in aliasDir alone.
	alias, aliasDir string
	// variables are those of the environment that name shared directories.
	variables map[string]string
	// hidden are what was found and is not shown, by path, with the reason.
	hidden map[string]error
	// environmentHidden reports that one of them is the virtual environment in
	// use, so that programs run with another Python than the user's.
	environmentHidden bool
}

// newLayout looks at the machine.
func newLayout(s surroundings) layout {
	l := layout{surroundings: s, variables: map[string]string{}, hidden: map[string]error{}}
	for _, dir := range systemDirs {
		l.add(dir)
	}
	for _, pattern := range systemFiles {
		names, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, name := range names {
			l.add(name)
		}
	}
	for _, name := range s.show {
		l.showNamed(name)
	}
	l.findInterpreters()
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		l.use(dir)
	}
	l.findPackages()
	l.settle()
	l.links = append(l.links, jail.Link{Path: "/var/tmp", Target: "/tmp"})
	return l
}

// add shows a file or directory, or a link to one that is shown.
func (l *layout) add(name string) {
	if target, err := os.Readlink(name); err == nil {
		l.links = append(l.links, jail.Link{Path: name, Target: target})
	} else if info, err := os.Lstat(name); err == nil {
		l.mounts = append(l.mounts, jail.Mount{Source: name, Target: name, Dir: info.IsDir()})
	}
}

// share shows files and directories by their real paths.
func (l *layout) share(names ...string) {
	for _, name := range names {
		if !l.holds(name) {
			l.shared = append(l.shared, jail.Mount{Source: name, Target: name, Dir: isDir(name)})
		}
	}
}

// use adds a directory to the path on which programs are found.
func (l *layout) use(dir string) {
	if !slices.Contains(l.path, dir) {
		l.path = append(l.path, dir)
	}
}

// settle takes out what another mount shows anyway.
func (l *layout) settle() {
	below := func(name string, or bool) bool {
		return slices.ContainsFunc(l.shared, func(m jail.Mount) bool {
			return pathname.Within(name, m.Target) && (or || name != m.Target)
		})
	}
	l.mounts = slices.DeleteFunc(l.mounts, func(m jail.Mount) bool { return below(m.Target, true) })
	l.shared = slices.DeleteFunc(slices.Clone(l.shared), func(m jail.Mount) bool { return below(m.Target, false) })
	var links []jail.Link
	for _, link := range l.links {
		if !l.holds(link.Path) && !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	l.links = links
}

// holds reports whether a real path is below what is mounted.
func (l *layout) holds(name string) bool {
	holds := func(m jail.Mount) bool { return pathname.Within(name, m.Target) }
	return slices.ContainsFunc(l.mounts, holds) || slices.ContainsFunc(l.shared, holds)
}

// shows reports whether programs see a file at its path on the host. Links are
// followed, and must be seen too.
func (l *layout) shows(name string) bool {
	real, links, err := follow(filepath.Clean(name))
	hidden := func(link jail.Link) bool { return !l.holds(link.Path) && !slices.Contains(l.links, link) }
	return err == nil && l.holds(real) && !slices.ContainsFunc(links, hidden)
}

// look finds a program that programs see, by its absolute path or by its name.
func (l *layout) look(name string) (string, bool) {
	dirs := l.path
	if filepath.IsAbs(name) {
		dirs = process.SearchPath{"/"}
	}
	for _, dir := range dirs {
		if dir == l.aliasDir && name == l.alias {
			return filepath.Join(dir, name), true
		}
		found, ok := process.SearchPath{dir}.Look(name)
		if ok && l.shows(found) {
			return found, true
		}
	}
	return "", false
}

// leadsInto reports whether a path, links and ".." followed, is below a
// directory or what programs see. What is elsewhere on the machine is for nobody
// to learn.
func (l *layout) leadsInto(name, dir string) bool {
	real, err := filepath.EvalSymlinks(name)
	realDir, dirErr := filepath.EvalSymlinks(dir)
	return err == nil && (dirErr == nil && pathname.Within(real, realDir) || l.holds(real))
}

// root returns what of the file system is the same in all runs.
func (l *layout) root() *jail.Root {
	return &jail.Root{Mounts: slices.Clone(l.mounts), Files: ownFiles, Links: l.links, TmpBytes: tmpBytes}
}

// present returns what is shared and still where it was: a link in its place may
// lead anywhere.
func (l *layout) present() []jail.Mount {
	return slices.DeleteFunc(slices.Clone(l.shared), func(m jail.Mount) bool { return !isReal(m.Source) })
}

// ownMounts returns the rest of the file system of one run.
func (l *layout) ownMounts(spec sandbox.Spec) []jail.Mount {
	mounts := l.present()
	if spec.SkillDir != "" {
		mounts = append(mounts, jail.Mount{Source: spec.SkillDir, Target: skillDir, Dir: true})
	}
	mounts = append(mounts,
		jail.Mount{Source: spec.Workspace, Target: workspace, Dir: true, Writable: true},
		jail.Mount{Source: scratch.Owned(spec), Target: private, Dir: true, Writable: true})
	return append(mounts, l.grantedMounts(spec)...)
}

// isOwn reports whether a mount is that of a run's own directory, of a copy of a
// share or of what the run is granted to be shown.
func isOwn(mount jail.Mount) bool {
	return mount.Single || mount.Target == skillDir || mount.Target == workspace || mount.Target == private
}

// fullRights are what programs may do in the file system of a run.
var fullRights = jail.Rights{Landlock: []jail.Grant{
	{Path: "/"}, {Path: workspace, Write: true}, {Path: private, Write: true}, {Path: "/tmp", Write: true},
	{Path: "/dev", WriteFiles: true},
}}

// restrictedFiles are what programs may read in the tier [Restricted], besides
// what they see in the other.
var restrictedFiles = []string{
	"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version",
	"/proc/filesystems", "/proc/sys/kernel/cap_last_cap", "/proc/sys/kernel/ngroups_max", "/proc/sys/kernel/osrelease",
	"/proc/sys/kernel/ostype", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max", "/proc/sys/vm",
	"/sys/devices/system/cpu", "/sys/fs/cgroup/cpu.max",
}

// restrictedRights returns what programs may do in the server's own file system.
func (l *layout) restrictedRights(spec sandbox.Spec) jail.Rights {
	read := slices.Clone(restrictedFiles)
	for _, mount := range slices.Concat(l.mounts, l.present()) {
		read = append(read, mount.Target)
	}
	for _, link := range l.links {
		if pathname.Within(link.Path, "/etc") {
			read = append(read, link.Path)
		}
	}
	if spec.SkillDir != "" {
		read = append(read, spec.SkillDir)
	}
	rights := jail.Rights{Shared: true, Landlock: []jail.Grant{
		{Path: spec.Workspace, Write: true}, {Path: scratch.Owned(spec), Write: true},
		{Path: "/dev/null", WriteFiles: true}, {Path: "/dev/zero", WriteFiles: true}, {Path: "/dev/full", WriteFiles: true},
		{Path: "/dev/random", WriteFiles: true}, {Path: "/dev/urandom", WriteFiles: true},
	}}
	for _, name := range spec.Show {
		rights.Landlock = append(rights.Landlock, jail.Grant{Path: name, Exact: true})
	}
	for _, name := range read {
		rights.Landlock = append(rights.Landlock, jail.Grant{Path: name})
	}
	return rights
}
