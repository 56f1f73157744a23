package docker

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// searchPath is the PATH of programs where the image has none.
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
	b.env = parseEnv(found.Env)
	b.searchPath = cmp.Or(b.env["PATH"], searchPath)
	return err
}

// parseEnv returns the variables of an image. Of lists of directories only the
// absolute ones are left: others would stand for where a program starts, where
// others write.
func parseEnv(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, variable := range list {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasSuffix(name, "PATH") || name == "PERL5LIB" || name == "RUBYLIB" {
			dirs := slices.DeleteFunc(strings.Split(value, ":"), func(dir string) bool { return !path.IsAbs(dir) })
			if value = strings.Join(dirs, ":"); value == "" {
				continue
			}
		}
		env[name] = value
	}
	return env
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
// Absolute paths count where they are those of programs on PATH, and where there is
// something in what is shared, shown or bound.
func (p programs) look(by sharing, spec sandbox.Spec, dir string) command.Lookup {
	return func(name string) (string, bool) {
		if _, shared := by.has(dir + "/"); shared && strings.Contains(name, "/") && !path.IsAbs(name) {
			name = path.Join(dir, name)
		}
		if !path.IsAbs(name) {
			file, found := p.byName[name]
			return file, found
		}
		clean := path.Clean(name)
		if has, shared := by.has(clean); shared {
			return name, has
		}
		if has, shown := showsProgram(spec.Show, clean); shown {
			return name, has
		}
		for at, dir := range map[string]string{protocol.SkillDir: spec.SkillDir, protocol.Workspace: spec.Workspace, sandbox.LibraryDir: spec.Library} {
			if rest, bound := strings.CutPrefix(clean, at+"/"); bound {
				return name, dir != "" && inLayers([]string{dir}, rest)
			}
		}
		return name, strings.HasPrefix(clean, protocol.Private+"/") || p.files[clean]
	}
}
