package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// unshown are the places of which nothing is shown, whoever asks for it: those
// of the kernel, of sockets and of secrets, and what a run has for itself.
var unshown = []string{
	"/boot", "/dev", "/etc/group", "/etc/gshadow", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/resolv.conf", "/etc/shadow",
	"/etc/ssh", "/etc/sudoers", "/etc/sudoers.d", "/proc", "/run", "/sys", "/tmp/.ICE-unix", "/tmp/.X11-unix",
	"/var/lib/docker", "/var/lib/private", "/var/run", "/var/tmp", skillDir, workspace, private,
}

// unshownInHome are those in a home directory.
var unshownInHome = []string{
	".aws", ".azure", ".config", ".docker", ".gnupg", ".kube", ".mozilla", ".netrc", ".npmrc", ".password-store",
	".pypirc", ".skills-mcp", ".ssh",
}

// tooMuch are the directories that hold everybody's.
var tooMuch = []string{"/etc", "/home", "/root", "/tmp", "/var/cache", "/var/lib", "/var/log", "/var/spool"}

// CheckShow returns the clean absolute path of what an operator wants programs
// to read, and why they must not.
func CheckShow(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", fmt.Errorf("%s is not absolute", name)
	}
	name = filepath.Clean(name)
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is neither a file nor a directory", name)
	}
	for _, path := range []string{name, real} {
		if err := checkPlace(path); err != nil {
			return "", err
		}
	}
	return name, nil
}

func checkPlace(name string) error {
	homes := homesAround(name)
	closed := slices.Clone(unshown)
	for _, home := range homes {
		for _, secret := range unshownInHome {
			closed = append(closed, filepath.Join(home, secret))
		}
	}
	below := func(place string) bool { return pathname.Within(name, place) }
	temporary := filepath.Clean(os.TempDir()) // where servers have workspaces and copies
	if real, err := filepath.EvalSymlinks(temporary); err == nil {
		temporary = real
	}
	if slices.ContainsFunc(closed, below) || strings.HasPrefix(name, filepath.Join(temporary, "skills-mcp-")) {
		return fmt.Errorf("%s is no place that programs may read", name)
	}
	above := func(place string) bool { return pathname.Within(place, name) }
	if above(temporary) || slices.ContainsFunc(slices.Concat(closed, tooMuch, homes), above) {
		return fmt.Errorf("%s holds too much to be shown: name what programs need of it", name)
	}
	return nil
}

// homesAround returns the home directories that a path may have to do with.
func homesAround(name string) []string {
	homes := []string{"/root"}
	if rest, found := strings.CutPrefix(name, "/home/"); found {
		user, _, _ := strings.Cut(rest, "/")
		homes = append(homes, "/home/"+user)
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return homes
	}
	homes = append(homes, filepath.Clean(home))
	if real, err := filepath.EvalSymlinks(home); err == nil {
		homes = append(homes, real)
	}
	return homes
}
