package image

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// ErrNoDebootstrap means that this machine cannot make a root file system.
var ErrNoDebootstrap = errors.New("no root file system can be made here")

const (
	debootstrap   = "mmdebstrap"
	packagesLabel = "packages"
)

// unneeded is what a root file system is made without: documentation and, where
// there is little else, Perl's library, which is a third of it, and which what git
// and the packages' scripts take from there do not need any more.
func unneeded(contents Contents) []string {
	options := []string{
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=path-exclude=/usr/share/man/*",
	}
	if contents == Slim {
		options = append(options, `--customize-hook=rm -r "$1"/usr/share/perl "$1"/usr/lib/*/perl "$1"/usr/lib/*/libperl.*`)
	}
	return options
}

// rootFileSystem returns an image that is made of the packages of this machine's
// Debian or Ubuntu, unless the engine has it from an earlier time.
func rootFileSystem(ctx context.Context, e *engine.Engine, contents Contents, arch string, packages []string, progress io.Writer) (id string, err error) {
	name, list := "skills-mcp/rootfs:"+string(contents), strings.Join(packages, ",")
	if made, err := e.Image(ctx, name); err == nil && made.Labels[packagesLabel] == list {
		return made.ID, nil
	}
	suite, sources, err := distribution()
	if err != nil {
		return "", err
	}
	tool, err := exec.LookPath(debootstrap)
	if err != nil {
		return "", fmt.Errorf("%w: there is no %s", ErrNoDebootstrap, debootstrap)
	}
	fmt.Fprintf(progress, "Making a root file system of %s\n", suite)
	options := append([]string{"--variant=essential", "--architectures=" + arch, "--include=" + list, "--format=tar"}, unneeded(contents)...)
	make := exec.CommandContext(ctx, tool, append(options, suite, "-", sources)...)
	make.Stderr = progress
	archive, err := make.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := make.Start(); err != nil {
		return "", err
	}
	id, err = e.Import(ctx, archive, name, map[string]string{packagesLabel: list})
	archive.Close() // so that it ends where the engine wants no more
	if failed := make.Wait(); failed != nil {
		// What was imported then is no root file system.
		return "", errors.Join(fmt.Errorf("%s: %w", debootstrap, failed), err, e.RemoveImage(ctx, name))
	}
	return id, err
}

// distribution returns the suite of this machine's Debian or Ubuntu, and the file
// that says where its packages are.
func distribution() (suite, sources string, err error) {
	release, err := os.Open("/etc/os-release")
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", ErrNoDebootstrap, err)
	}
	defer release.Close()
	for lines := bufio.NewScanner(release); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "VERSION_CODENAME="); ok {
			suite = strings.Trim(name, `"`)
		}
	}
	for _, sources := range []string{"/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list.d/ubuntu.sources", "/etc/apt/sources.list"} {
		if file, err := os.Stat(sources); err == nil && file.Size() > 0 && suite != "" {
			return suite, sources, nil
		}
	}
	return "", "", fmt.Errorf("%w: this is neither Debian nor Ubuntu", ErrNoDebootstrap)
}
