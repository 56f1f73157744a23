package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// searchPath is the PATH of programs.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

var (
	errForeignImage = errors.New("image without entry program")
	errUnshared     = errors.New("directories cannot be shared")
)

// image is what containers are made of.
type image struct {
	id      string // so that a rebuilt image does not change a running server
	runtime string
}

func findImage(ctx context.Context, e *engine, options Options) (image, error) {
	id, labels, err := e.image(ctx, options.Image)
	if err == nil && labels[handover.VersionLabel] != handover.Version {
		err = errForeignImage
	}
	return image{id: id, runtime: options.Runtime}, err
}

// probe runs a container as they all will be, and asks it which programs
// there are.
func (b *Backend) probe(ctx context.Context) error {
	workspace, err := os.MkdirTemp("", "skills-mcp-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(workspace)
	user, err := adopt(workspace)
	if err != nil {
		return err
	}
	// An engine that has another directory of that name does not have this.
	marker, err := os.MkdirTemp(workspace, "")
	if err != nil {
		return err
	}
	if _, err := adopt(workspace); err != nil {
		return err
	}
	spec := sandbox.Spec{Workspace: workspace, Limits: withDefaults(sandbox.Limits{})}
	c, err := b.start(ctx, placeOf(spec, user))
	if err != nil {
		return err
	}
	defer c.release()
	spec.Limits.OutputBytes = spec.Limits.SpillBytes
	capture := newCapture(spec, nil, nil)
	ended := c.run(ctx, handover.Order{
		Dir: path.Join(workspaceTarget, path.Base(marker)),
		Env: []string{"PATH=" + searchPath},
	}, nil, capture)
	capture.close(b.log)
	switch {
	case ended.report == nil:
		return fmt.Errorf("a container does not start: %s", capture.stderr.Output().Data)
	case ended.report.Errno != 0:
		return errUnshared
	}
	b.programs = parsePrograms(capture.stdout.Output().Data)
	return nil
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

// look is a [sandbox.Lookup]. Absolute paths count where they are those of
// programs on PATH, and below the binds, whatever is there.
func (p programs) look(name string) (string, bool) {
	if !path.IsAbs(name) {
		file, found := p.byName[name]
		return file, found
	}
	clean := path.Clean(name)
	bound := strings.HasPrefix(clean, skillTarget+"/") || strings.HasPrefix(clean, workspaceTarget+"/")
	return name, bound || p.files[clean]
}
