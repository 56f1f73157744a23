package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

const (
	// minAPI is that of Docker Engine 20.10, the oldest that is tested.
	minAPI = "1.41"
	// dialPatience is how long an engine may take to say who it is, and
	// sshPatience how long if ssh has to log in first.
	dialPatience = 10 * time.Second
	sshPatience  = 20 * time.Second
	// goneInterval is the time between two looks whether a container is gone,
	// and removePatience how long an engine may refuse to remove it.
	goneInterval   = 5 * time.Millisecond
	removePatience = 10 * time.Second
)

var (
	errNoEngine  = errors.New("no engine answers")
	errNoSSH     = errors.New("no engine answers over ssh")
	errInsecure  = errors.New("the connection to the engine is not secure")
	errElsewhere = errors.New("the engine may be on another machine")
	errNoImage   = errors.New("no such image")
)

// engine is a Docker or a Podman engine. All that is known of Docker's client
// is in this file and in hardening.go.
type engine struct {
	api    *client.Client
	podman bool
	// elsewhere tells that it is reached by anything but a unix socket or a
	// named pipe, so that it may be on another machine.
	elsewhere bool
	ssh       *sshDialer // nil if it is not reached by ssh
}

// dial connects to the engine of that address or, if it is empty, to the first
// one that answers, but to none that may be on another machine if it is to be
// here. The error is errNoEngine, errNoSSH, errInsecure or errElsewhere.
func dial(ctx context.Context, host string, here bool) (*engine, error) {
	endpoints, err := findEndpoints(host)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoEngine, err)
	}
	var errs []error
	for _, endpoint := range endpoints {
		e, err := endpoint.dial(ctx, here)
		if err == nil {
			return e, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// identify asks an engine who it is.
func (e *engine) identify(ctx context.Context) error {
	// Once: what an engine is asked otherwise negotiates first, and goes on
	// where nobody answers.
	ping, err := e.api.Ping(ctx)
	if err != nil {
		return e.unreachable(err)
	}
	e.api.NegotiateAPIVersionPing(ping)
	version, err := e.api.ServerVersion(ctx)
	switch {
	case err != nil:
		return e.unreachable(err)
	case version.Os != "" && version.Os != "linux":
		return fmt.Errorf("%w: it runs %s containers", errNoEngine, version.Os)
	}
	if used := e.api.ClientVersion(); olderAPI(used, minAPI) {
		return fmt.Errorf("%w: its API is %s, needed is %s", errNoEngine, used, minAPI)
	}
	e.podman = slices.ContainsFunc(version.Components, func(c types.ComponentVersion) bool { return c.Name == "Podman Engine" })
	return nil
}

// unreachable is the error for an engine that does not answer.
func (e *engine) unreachable(err error) error {
	if e.ssh != nil {
		if failure := e.ssh.lastFailure(); failure != nil {
			err = failure
		}
		return fmt.Errorf("%w: %w", errNoSSH, err)
	}
	return fmt.Errorf("%w: %w", errNoEngine, err)
}

// name is what hosts are told.
func (e *engine) name() string {
	if e.podman {
		return "podman"
	}
	return "docker"
}

// olderAPI compares versions of the form "1.41".
func olderAPI(a, b string) bool {
	var aMajor, aMinor, bMajor, bMinor int
	fmt.Sscanf(a, "%d.%d", &aMajor, &aMinor)
	fmt.Sscanf(b, "%d.%d", &bMajor, &bMinor)
	return aMajor < bMajor || (aMajor == bMajor && aMinor < bMinor)
}

// close ends all connections.
func (e *engine) close() error {
	err := e.api.Close()
	if e.ssh != nil {
		e.ssh.close()
	}
	return err
}

// inspected is a local image.
type inspected struct {
	id          string
	labels      map[string]string
	healthcheck bool // it has a command that checks containers
}

// image gives a local image, or errNoImage.
func (e *engine) image(ctx context.Context, name string) (inspected, error) {
	found, err := e.api.ImageInspect(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return inspected{}, errNoImage
	case err != nil:
		return inspected{}, err
	}
	image := inspected{id: found.ID}
	if found.Config != nil {
		image.labels = found.Config.Labels
		image.healthcheck = found.Config.Healthcheck != nil
	}
	return image, nil
}

// create makes a container and gives its identity.
func (e *engine) create(ctx context.Context, b blueprint) (string, error) {
	user := b.user
	if b.copying {
		user = "0:0"
	}
	config := &dockercontainer.Config{
		Hostname:     "sandbox",
		User:         user,
		Entrypoint:   b.command,
		Env:          []string{},
		WorkingDir:   "/",
		Image:        b.image,
		Labels:       b.labels,
		OpenStdin:    true,
		StdinOnce:    true, // its end tells the container that the server is gone
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
	}
	if b.healthcheck { // Podman sets a timer for any check, NONE included
		config.Healthcheck = &dockercontainer.HealthConfig{Test: []string{"NONE"}}
	}
	host := b.hostConfig()
	if e.podman {
		if err := adaptToPodman(host); err != nil {
			return "", err
		}
	}
	created, err := e.api.ContainerCreate(ctx, config, host, &network.NetworkingConfig{}, nil, "")
	if errdefs.IsInvalidArgument(err) && len(b.binds) > 0 { // it sees other files than this process
		return "", fmt.Errorf("%w: %w", errUnshared, err)
	}
	if err != nil {
		return "", err
	}
	if err := discarded(created.Warnings); err != nil {
		return "", errors.Join(err, e.remove(ctx, created.ID))
	}
	return created.ID, nil
}

func (e *engine) start(ctx context.Context, id string) error {
	return e.api.ContainerStart(ctx, id, dockercontainer.StartOptions{})
}

// streams are a container's standard streams.
type streams struct {
	conn   io.WriteCloser // its input; Close ends everything
	output io.Reader      // both outputs, multiplexed
}

// attach must come before start, so that nothing is lost.
func (e *engine) attach(ctx context.Context, id string) (*streams, error) {
	asking, watch := newWatch(ctx)
	attached, err := e.api.ContainerAttach(asking, id, dockercontainer.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	inTime := watch.release()
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if !inTime {
		attached.Close()
		return nil, ctx.Err()
	}
	return &streams{conn: attached.Conn, output: attached.Reader}, nil
}

// copyTo copies the outputs until the container has ended, the connection is
// closed or a writer fails.
func (s *streams) copyTo(stdout, stderr io.Writer) error {
	_, err := stdcopy.StdCopy(stdout, stderr, s.output)
	return err
}

// remove kills all processes of a container and removes it. It returns when
// it is gone, which is no error when it was before. An engine that is about to
// remove it itself may refuse for a while: Docker says that it does so already,
// Podman that it is in no state to be killed.
func (e *engine) remove(ctx context.Context, id string) error {
	deadline := time.Now().Add(removePatience)
	for {
		err := e.api.ContainerRemove(ctx, id, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
		if _, inspectErr := e.api.ContainerInspect(ctx, id); errdefs.IsNotFound(err) || errdefs.IsNotFound(inspectErr) {
			return nil
		}
		if err != nil && time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(goneInterval):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// labelled is a container as listed.
type labelled struct {
	id     string
	labels map[string]string
}

// list gives all containers, whatever their state, with a label of that name
// and value.
func (e *engine) list(ctx context.Context, label, value string) ([]labelled, error) {
	listed, err := e.api.ContainerList(ctx, dockercontainer.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", label+"="+value)),
	})
	if err != nil {
		return nil, err
	}
	found := make([]labelled, 0, len(listed))
	for _, c := range listed {
		found = append(found, labelled{id: c.ID, labels: c.Labels})
	}
	return found, nil
}
