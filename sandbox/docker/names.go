package docker

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// namesPrefix begins the name of the directory of all files of names.
const namesPrefix = "skills-mcp-docker-names-"

// nameFiles are those of /etc by which programs find hosts, where there are none but
// the container itself. Some C libraries ask a name server all the same, and wait for
// it.
var nameFiles = map[string]string{
	"hosts":       "127.0.0.1 localhost sandbox\n::1 localhost\n",
	"resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
}

// bindNames makes the files for a container for which the engine makes none, until it
// is released. Each has its own: by locks on one file, programs could tell each other
// things.
func (c *container) bindNames(blueprint *engine.Blueprint) error {
	of := c.backend.names
	if of == nil || blueprint.Copying {
		return nil
	}
	dir, err := os.MkdirTemp(of.Path(), "")
	if err != nil {
		return err
	}
	c.names = dir
	for name, content := range nameFiles {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, []byte(content), 0o644), os.Chmod(file, 0o644)); err != nil {
			return err
		}
		blueprint.Binds = append(blueprint.Binds, engine.Bind{Source: file, Target: "/etc/" + name, ReadOnly: true})
	}
	blueprint.Unconnected = true
	return nil
}

// removeNames removes them. What cannot be removed now Close removes.
func (c *container) removeNames() {
	if c.names != "" {
		os.RemoveAll(c.names)
	}
}
