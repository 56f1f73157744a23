package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
)

const (
	// goneInterval is the time between the first two looks whether a container is
	// gone, which doubles up to goneIntervalMax, and removeTimeout how long an engine
	// may refuse to remove it.
	goneInterval    = 5 * time.Millisecond
	goneIntervalMax = 80 * time.Millisecond
	removeTimeout   = 10 * time.Second
)

// ErrNoImage means that the engine has no such image, and ErrUnshared that it
// does not see the directories that are to be bound.
var (
	ErrNoImage  = errors.New("no such image")
	ErrUnshared = errors.New("directories cannot be shared")
)

// Image is an image that the engine has.
type Image struct {
	ID          string
	Labels      map[string]string
	Env         []string
	Healthcheck bool // it has a command that checks containers
	Bytes       int64
}

// Image returns an image that the engine has, or [ErrNoImage].
func (e *Engine) Image(ctx context.Context, name string) (Image, error) {
	found, err := e.api.ImageInspect(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return Image{}, ErrNoImage
	case err != nil:
		return Image{}, err
	}
	image := Image{ID: found.ID, Bytes: found.Size}
	if found.Config != nil {
		image.Labels, image.Env = found.Config.Labels, found.Config.Env
		image.Healthcheck = found.Config.Healthcheck != nil
	}
	return image, nil
}

// Create makes a container and returns its identity. The error may be
// [ErrUnshared], [ErrPath] or [ErrUnbounded].
func (e *Engine) Create(ctx context.Context, b Blueprint) (string, error) {
	user := b.User
	if b.Copying {
		user = "0:0"
	}
	config := &dockercontainer.Config{
		Hostname:     "sandbox",
		User:         user,
		Entrypoint:   b.Command,
		Env:          []string{},
		WorkingDir:   "/",
		Image:        b.Image,
		Labels:       b.Labels,
		OpenStdin:    true,
		StdinOnce:    true, // its end tells the container that the server is gone
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,

		NetworkDisabled: b.Unconnected,
	}
	if b.Healthcheck { // Podman sets a timer for any check, NONE included
		config.Healthcheck = &dockercontainer.HealthConfig{Test: []string{"NONE"}}
	}
	host := b.hostConfig()
	if e.Podman {
		if err := adaptToPodman(host); err != nil {
			return "", err
		}
	}
	created, err := e.api.ContainerCreate(ctx, config, host, &network.NetworkingConfig{}, nil, "")
	if errdefs.IsInvalidArgument(err) && len(b.Binds) > 0 { // it sees other files than this process
		return "", fmt.Errorf("%w: %w", ErrUnshared, err)
	}
	if err != nil {
		return "", err
	}
	if err := discarded(created.Warnings); err != nil {
		return "", errors.Join(err, e.Remove(ctx, created.ID))
	}
	return created.ID, nil
}

// Start starts a container.
func (e *Engine) Start(ctx context.Context, id string) error {
	return e.api.ContainerStart(ctx, id, dockercontainer.StartOptions{})
}

// Attach connects to the streams of a container. It must come before Start, so
// that nothing is lost.
func (e *Engine) Attach(ctx context.Context, id string) (*Streams, error) {
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
	return &Streams{Conn: attached.Conn, output: attached.Reader}, nil
}

// Remove kills all processes of a container and removes it. It returns when
// it is gone, which is no error when it was before. An engine that is about to
// remove it itself may refuse for a while: Docker says that it does so already,
// Podman that it is in no state to be killed.
func (e *Engine) Remove(ctx context.Context, id string) error {
	deadline := time.Now().Add(removeTimeout)
	for interval := goneInterval; ; interval = min(2*interval, goneIntervalMax) {
		err := e.api.ContainerRemove(ctx, id, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
		if _, inspectErr := e.api.ContainerInspect(ctx, id); errdefs.IsNotFound(err) || errdefs.IsNotFound(inspectErr) {
			return nil
		}
		if err != nil && time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// List returns the labels of all containers, whatever their state, by identity,
// that have a label of that name and value.
func (e *Engine) List(ctx context.Context, label, value string) (map[string]map[string]string, error) {
	listed, err := e.api.ContainerList(ctx, dockercontainer.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", label+"="+value)),
	})
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[string]string)
	for _, c := range listed {
		found[c.ID] = c.Labels
	}
	return found, nil
}
