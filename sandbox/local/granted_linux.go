//go:build amd64 || arm64

package local

import (
	"net/netip"
	"os"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// proxyPort is where programs find what takes their connections.
var proxyPort = int(netip.MustParseAddrPort(sandbox.ProxyAddress).Port())

// checkGranted refuses what a run is to be shown and cannot be. Errors are of type
// [sandbox.SetupError].
func (s *system) checkGranted(spec sandbox.Spec) error {
	if spec.Library != "" && s.layout.takes(sandbox.LibraryDir) {
		return process.RefusedLibrary("something of this machine that programs see is there")
	}
	for _, name := range spec.Show {
		switch {
		case s.tier == Full && s.layout.isInTheWay(name) && !s.layout.holds(name):
			return process.RefusedShow("its path is one of the sandbox's own, or above one")
		case s.asNobody && !letsNobodyPass(name):
			return process.RefusedShow("programs are another user, who may not go there")
		case s.asNobody && !s.layout.othersMayRead(name):
			return process.RefusedShow("programs are another user, who may not read it")
		}
	}
	return nil
}

func (l *layout) othersMayRead(name string) bool {
	info, err := os.Stat(name)
	return err == nil && l.readable(info)
}

// grantedMounts returns the mounts of what a run is shown besides what all are.
func (l *layout) grantedMounts(spec sandbox.Spec) (mounts []jail.Mount) {
	for _, name := range spec.Show {
		if !l.holds(name) {
			mounts = append(mounts, jail.Mount{Source: name, Target: l.place(name), Dir: isDir(name), Single: true})
		}
	}
	if spec.Library != "" {
		mounts = append(mounts, jail.Mount{Source: spec.Library, Target: sandbox.LibraryDir, Dir: true, Single: true})
	}
	return mounts
}

// takes reports whether something that all programs see is at a path, above or
// below.
func (l *layout) takes(name string) bool {
	meets := func(other string) bool { return pathname.Within(name, other) || pathname.Within(other, name) }
	at := func(m jail.Mount) bool { return meets(m.Target) }
	return slices.ContainsFunc(l.mounts, at) || slices.ContainsFunc(l.shared, at) ||
		slices.ContainsFunc(l.links, func(link jail.Link) bool { return meets(link.Path) })
}

// lookGranted finds a program by a path in what a run is shown. It may be a link
// to anything that programs see.
func (l *layout) lookGranted(name string, granted []string) (string, bool) {
	if !slices.ContainsFunc(granted, func(shown string) bool { return pathname.Within(name, shown) }) {
		return "", false
	}
	file, found := l.path.Look(name)
	leads := func(shown string) bool { return l.leadsInto(file, shown) }
	return file, found && slices.ContainsFunc(granted, leads)
}
