package docker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// unavailable is the error for what keeps programs from being run in an image.
func unavailable(err error, image string) error {
	return fmt.Errorf("%w: %w (%s)", sandbox.ErrUnavailable, err, hint(err, image))
}

// hint says in a sentence what is missing and what fixes it. It names no host
// path.
func hint(err error, image string) string {
	noRuntime := new(engine.NoRuntimeError)
	switch {
	case errors.Is(err, engine.ErrElsewhere):
		return "Say --sandbox=docker to have files of skills and workspaces copied to the engine's machine, and programs run there."
	case errors.Is(err, engine.ErrInsecure):
		return "DOCKER_HOST or the Docker context leads to another machine without TLS, or without a look at its certificate, so that anybody in between could read skills and write workspaces: " +
			"set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to a directory with ca.pem, cert.pem and key.pem, or connect by ssh://USER@HOST."
	case errors.Is(err, engine.ErrNoSSH):
		return `No engine answers over ssh: "ssh HOST docker version", with the HOST of DOCKER_HOST or the Docker context, must work without asking for anything.`
	case errors.Is(err, engine.ErrNoEngine):
		return `No Docker or Podman engine answers: start it, or set DOCKER_HOST to where it listens; "docker version" reports whether it answers.`
	case errors.As(err, &noRuntime):
		return fmt.Sprintf("Install %s and register it with the engine, or name one of %s with --docker-runtime.",
			noRuntime.Name, strings.Join(noRuntime.There, ", "))
	case errors.Is(err, engine.ErrPodmanRuntime):
		return `Leave out --docker-runtime, and start Podman's service with "podman --runtime NAME system service" instead.`
	case errors.Is(err, engine.ErrNoImage) && image != DefaultImage:
		return fmt.Sprintf(`The engine has no image %s: build or pull that, or have "skills-mcp image build" build %s and leave out --docker-image.`, image, DefaultImage)
	case errors.Is(err, engine.ErrNoImage):
		return fmt.Sprintf(`The engine has no image %s: "skills-mcp image build" builds it, or name another one with --docker-image.`, image)
	case errors.Is(err, errForeignImage):
		return fmt.Sprintf(`The image %s has not this version's entry program: "skills-mcp image build" builds %s again, on which images of your own are to be based.`, image, DefaultImage)
	case errors.Is(err, engine.ErrUnbounded):
		return `The engine lacks control groups for memory or processes. The kernel's boot parameters enable them; a rootless engine needs those of version 2, and to be started by its user's systemd, which "loginctl enable-linger" keeps running.`
	}
	return "The Docker engine refuses to run containers: its log and that of skills-mcp say why."
}
