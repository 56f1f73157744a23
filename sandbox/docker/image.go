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

// look returns a [command.Lookup]. Absolute paths count where they are those of
// programs on PATH, and below the binds and what is shared, whatever is there.
func (p programs) look(shared []string) command.Lookup {
	return func(name string) (string, bool) {
		if !path.IsAbs(name) {
			file, found := p.byName[name]
			return file, found
		}
		clean := path.Clean(name)
		bound := func(dir string) bool { return strings.HasPrefix(clean, dir+"/") }
		return name, slices.ContainsFunc([]string{protocol.SkillDir, protocol.Workspace, protocol.Private}, bound) ||
			slices.ContainsFunc(shared, bound) || p.files[clean]
	}
}
