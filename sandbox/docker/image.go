package docker

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// searchPath is the PATH of programs.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

var errForeignImage = errors.New("image without entry program")

// findImage settles what all containers are made of.
func (b *Backend) findImage(ctx context.Context, options Options) error {
	found, err := b.engine.Image(ctx, options.Image)
	if err == nil && found.Labels[protocol.VersionLabel] != protocol.Version {
		err = errForeignImage
	}
	b.blueprint = engine.Blueprint{
		Image:   found.ID, // not its name: a rebuilt image does not change a running server
		Runtime: options.Runtime, Healthcheck: found.Healthcheck,
		Command: []string{protocol.Path}, Labels: b.labels,
	}
	return err
}

// programs are the executables on PATH.
type programs struct {
	byName map[string]string // the first of each name
	files  map[string]bool   // all paths
}

func parsePrograms(list []byte) programs {
	p := programs{byName: make(map[string]string), files: make(map[string]bool)}
	for file := range strings.SplitSeq(string(list), "\x00") {
		if name := path.Base(file); file != "" && p.byName[name] == "" {
			p.byName[name] = file
		}
		p.files[file] = true
	}
	return p
}

// look returns a [command.Lookup] for a program that starts in a directory.
// Absolute paths count where they are those of programs on PATH, in what is shared
// where there is something, and below the binds whatever is there.
func (p programs) look(by sharing, dir string) command.Lookup {
	return func(name string) (string, bool) {
		if _, shared := by.has(dir + "/"); shared && strings.Contains(name, "/") && !path.IsAbs(name) {
			name = path.Join(dir, name)
		}
		if !path.IsAbs(name) {
			file, found := p.byName[name]
			return file, found
		}
		clean := path.Clean(name)
		bound := func(dir string) bool { return strings.HasPrefix(clean, dir+"/") }
		if has, shared := by.has(clean); shared {
			return name, has
		}
		return name, slices.ContainsFunc([]string{protocol.SkillDir, protocol.Workspace, protocol.Private}, bound) || p.files[clean]
	}
}
