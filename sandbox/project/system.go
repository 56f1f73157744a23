package project

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// systemTrees are the system's with all below but what userTrees has.
var systemTrees = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/nix", "/proc", "/run", "/sbin", "/snap", "/sys",
	"/usr", "/var/backups", "/var/cache", "/var/db", "/var/lib", "/var/lock", "/var/log", "/var/mail", "/var/run", "/var/snap", "/var/spool",
	"/Applications", "/Library", "/System", "/cores", "/private/etc", "/private/var/db", "/private/var/log", "/private/var/run",
}

// systemTops are the system's, and what is below is not.
var systemTops = []string{
	"/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/home", "/var/tmp", "/var/www", "/Users", "/Volumes", "/private",
	"/private/tmp", "/private/var", "/private/var/folders", "/private/var/tmp",
}

// userTrees are where people have files in the system's directories, each a top
// as in systemTops.
var userTrees = []string{"/run/media", "/usr/src", "/usr/local/src"}

// isSystem reports whether a real path belongs to the system.
func isSystem(path string) bool {
	if runtime.GOOS == "windows" {
		return isWindowsSystem(path)
	}
	within := func(tree string) bool { return pathname.Within(path, tree) }
	if slices.ContainsFunc(userTrees, within) && !slices.Contains(userTrees, path) {
		return false
	}
	return slices.Contains(systemTops, path) || slices.ContainsFunc(systemTrees, within)
}

func isWindowsSystem(path string) bool {
	rest := strings.ToLower(filepath.ToSlash(path[len(filepath.VolumeName(path)):]))
	trees := []string{"/windows", "/program files", "/program files (x86)", "/programdata"}
	return rest == "/users" || slices.ContainsFunc(trees, func(tree string) bool { return strings.HasPrefix(rest+"/", tree+"/") })
}
