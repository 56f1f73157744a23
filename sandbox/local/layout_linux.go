//go:build amd64 || arm64

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// systemDirs hold the system's programs and libraries, and nothing of a user.
var systemDirs = []string{
	"/bin", "/gnu/store", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/sbin", "/usr",
}

// systemFiles are what of /etc programs need: nothing that holds a secret.
// Patterns are those of [filepath.Glob].
var systemFiles = []string{
	"/etc/alternatives", "/etc/ca-certificates", "/etc/fonts", "/etc/java-*", "/etc/ld.so.cache", "/etc/localtime",
	"/etc/magic", "/etc/mime.types", "/etc/os-release", "/etc/perl", "/etc/pki/ca-trust/extracted",
	"/etc/pki/tls/certs", "/etc/python3*", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
}

// ownFiles are files of /etc that would tell about the machine, or need not.
var ownFiles = []jail.File{
	{Path: "/etc/passwd", Content: "root:x:0:0:root:/root:/usr/sbin/nologin\n" +
		"sandbox:x:1000:1000:sandbox:" + private + "/" + scratch.Home + ":/bin/sh\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{Path: "/etc/group", Content: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"},
	{Path: "/etc/hosts", Content: "127.0.0.1 localhost sandbox\n::1 localhost\n"},
	{Path: "/etc/nsswitch.conf", Content: "passwd: files\ngroup: files\nhosts: files\n"},
}

// tmpBytes bounds /tmp, which is in memory.
const tmpBytes = 256 << 20

// layout is what of this machine programs see.
type layout struct {
	mounts []jail.Mount // of the system
	// prefixes are those of other interpreters, which may be out of reach for
	// other users.
	prefixes []jail.Mount
	links    []jail.Link
	path     process.SearchPath
}

// newLayout looks at the machine. Interpreters outside of the system's
// directories are found on a PATH.
func newLayout(path string) layout {
	var l layout
	for _, dir := range systemDirs {
		l.add(dir)
	}
	for _, pattern := range systemFiles {
		names, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, name := range names {
			l.add(name)
		}
	}
	found := findInterpreters(process.NewSearchPath(path), l.shows)
	for _, prefix := range found.prefixes {
		if !l.shows(prefix) {
			l.prefixes = append(l.prefixes, jail.Mount{Source: prefix, Target: prefix, Dir: true})
		}
	}
	l.path = found.path
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		if !slices.Contains(l.path, dir) {
			l.path = append(l.path, dir)
		}
	}
	l.links = append(l.links, jail.Link{Path: "/var/tmp", Target: "/tmp"})
	return l
}

// add shows a file or directory, or a link to one that is shown.
func (l *layout) add(name string) {
	info, err := os.Lstat(name)
	if err != nil {
		return
	}
	if info.Mode()&os.ModeSymlink == 0 {
		l.mounts = append(l.mounts, jail.Mount{Source: name, Target: name, Dir: info.IsDir()})
		return
	}
	target, err := os.Readlink(name)
	if err != nil {
		return
	}
	l.links = append(l.links, jail.Link{Path: name, Target: target})
}

// shows tells whether programs see a file at its path on the host. Links are
// followed.
func (l *layout) shows(name string) bool {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	holds := func(m jail.Mount) bool { return within(real, m.Target) }
	return slices.ContainsFunc(l.mounts, holds) || slices.ContainsFunc(l.prefixes, holds)
}

// within tells whether a path is dir or below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// environ is the part of the environment that is the same in all runs.
func (l *layout) environ() map[string]string {
	env := map[string]string{"PATH": l.path.String(), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
	if zone, set := os.LookupEnv("TZ"); set {
		env["TZ"] = zone
	}
	return env
}

// root gives what of the file system is the same in all runs.
func (l *layout) root() *jail.Root {
	return &jail.Root{Mounts: slices.Clone(l.mounts), Files: ownFiles, Links: l.links, TmpBytes: tmpBytes}
}

// ownMounts gives the rest of the file system of one run.
func (l *layout) ownMounts(spec sandbox.Spec) []jail.Mount {
	mounts := slices.Clone(l.prefixes)
	if spec.SkillDir != "" {
		mounts = append(mounts, jail.Mount{Source: spec.SkillDir, Target: skillDir, Dir: true})
	}
	return append(mounts,
		jail.Mount{Source: spec.Workspace, Target: workspace, Dir: true, Writable: true},
		jail.Mount{Source: scratch.Owned(spec), Target: private, Dir: true, Writable: true})
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
	"/proc/filesystems", "/proc/sys/kernel", "/proc/sys/vm",
	"/sys/devices/system/cpu", "/sys/fs/cgroup/cpu.max",
}

// restrictedRights gives what programs may do in the server's own file system.
func (l *layout) restrictedRights(spec sandbox.Spec) jail.Rights {
	rights := jail.Rights{Shared: true}
	for _, mount := range slices.Concat(l.mounts, l.prefixes) {
		rights.Landlock = append(rights.Landlock, jail.Grant{Path: mount.Target})
	}
	for _, link := range l.links {
		if within(link.Path, "/etc") {
			rights.Landlock = append(rights.Landlock, jail.Grant{Path: link.Path})
		}
	}
	for _, name := range restrictedFiles {
		rights.Landlock = append(rights.Landlock, jail.Grant{Path: name})
	}
	for _, name := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		rights.Landlock = append(rights.Landlock, jail.Grant{Path: name, WriteFiles: true})
	}
	if spec.SkillDir != "" {
		rights.Landlock = append(rights.Landlock, jail.Grant{Path: spec.SkillDir})
	}
	rights.Landlock = append(rights.Landlock,
		jail.Grant{Path: spec.Workspace, Write: true}, jail.Grant{Path: scratch.Owned(spec), Write: true})
	return rights
}
