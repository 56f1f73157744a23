package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
	units "github.com/docker/go-units"
)

const (
	// minAPI is that of Docker Engine 20.10, the oldest that is tested.
	minAPI = "1.41"
	// goneInterval is the time between two looks whether a container is gone.
	goneInterval = 5 * time.Millisecond
)

var (
	errNoEngine = errors.New("no engine answers")
	errRemote   = errors.New("the engine is on another machine")
	errNoImage  = errors.New("no such image")
)

// engine is all that is known of Docker's client; the rest of the package
// knows only the plain types below.
type engine struct{ api *client.Client }

// bind is a host directory in a container.
type bind struct {
	source, target string
	readOnly       bool
}

// blueprint describes a container. All else is the same for all: no network,
// no capabilities, nothing to write but the binds and /tmp.
type blueprint struct {
	image, runtime string
	healthcheck    bool // of the image, to be turned off
	command        []string
	user           string // "uid:gid"
	labels         map[string]string
	binds          []bind
	memoryBytes    int64
	processes      int64
	fileBytes      int64
	openFiles      int64
}

// dial connects to the engine that DOCKER_HOST names, or to the default one.
// The error is errNoEngine or errRemote.
func dial(ctx context.Context) (*engine, error) {
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoEngine, err)
	}
	host, err := url.Parse(api.DaemonHost())
	if err != nil || (host.Scheme != "unix" && host.Scheme != "npipe") {
		return nil, errors.Join(errRemote, api.Close())
	}
	ping, err := api.Ping(ctx)
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("%w: %w", errNoEngine, err), api.Close())
	case ping.OSType != "" && ping.OSType != "linux":
		return nil, errors.Join(fmt.Errorf("%w: it runs %s containers", errNoEngine, ping.OSType), api.Close())
	}
	if version := api.ClientVersion(); olderAPI(version, minAPI) {
		return nil, errors.Join(fmt.Errorf("%w: its API is %s, needed is %s", errNoEngine, version, minAPI), api.Close())
	}
	return &engine{api}, nil
}

// olderAPI compares versions of the form "1.41".
func olderAPI(a, b string) bool {
	var aMajor, aMinor, bMajor, bMinor int
	fmt.Sscanf(a, "%d.%d", &aMajor, &aMinor)
	fmt.Sscanf(b, "%d.%d", &bMajor, &bMinor)
	return aMajor < bMajor || (aMajor == bMajor && aMinor < bMinor)
}

func (e *engine) close() error { return e.api.Close() }

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
	config := &dockercontainer.Config{
		Hostname:     "sandbox",
		User:         b.user,
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
	created, err := e.api.ContainerCreate(ctx, config, b.hostConfig(), &network.NetworkingConfig{}, nil, "")
	return created.ID, err
}

// maskedPaths are what the kernel tells of the whole machine in /proc and
// /sys. They include all that any engine masks by default. What a program needs
// to know of its processors and its memory is also elsewhere.
var maskedPaths = []string{
	"/proc/acpi", "/proc/asound", "/proc/cmdline", "/proc/config.gz", "/proc/diskstats", "/proc/interrupts",
	"/proc/iomem", "/proc/ioports", "/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
	"/proc/modules", "/proc/partitions", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
	"/proc/timer_stats", "/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/firmware",
	"/sys/fs/selinux", "/sys/hypervisor", "/sys/kernel", "/sys/module", "/sys/power",
}

// hostConfig is the hardening.
func (b blueprint) hostConfig() *dockercontainer.HostConfig {
	h := &dockercontainer.HostConfig{
		AutoRemove:     true,
		CapDrop:        []string{"ALL"},
		IpcMode:        "private",
		MaskedPaths:    maskedPaths,
		LogConfig:      dockercontainer.LogConfig{Type: "none"},
		NetworkMode:    "none",
		ReadonlyRootfs: true,
		RestartPolicy:  dockercontainer.RestartPolicy{Name: dockercontainer.RestartPolicyDisabled},
		Runtime:        b.runtime,
		SecurityOpt:    []string{"no-new-privileges"}, // with the engine's default seccomp profile
		ShmSize:        shmBytes,
		Tmpfs:          map[string]string{"/tmp": fmt.Sprintf("rw,nosuid,nodev,size=%d,mode=1777", tmpBytes)},
		Resources: dockercontainer.Resources{
			Memory:     b.memoryBytes,
			MemorySwap: b.memoryBytes, // the sum of both, so none
			PidsLimit:  &b.processes,
			Ulimits: []*units.Ulimit{
				{Name: "core"},
				{Name: "fsize", Soft: b.fileBytes, Hard: b.fileBytes},
				{Name: "nofile", Soft: b.openFiles, Hard: b.openFiles},
			},
		},
	}
	for _, m := range b.binds {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeBind, Source: m.source, Target: m.target, ReadOnly: m.readOnly,
			// What is mounted below would be writable in spite of ReadOnly.
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: true},
		})
	}
	return h
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
	attached, err := e.api.ContainerAttach(ctx, id, dockercontainer.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, err
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
// it is gone, which is no error when it was before.
func (e *engine) remove(ctx context.Context, id string) error {
	err := e.api.ContainerRemove(ctx, id, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil && !errdefs.IsConflict(err) { // the engine removes it already
		return err
	}
	for {
		_, err := e.api.ContainerInspect(ctx, id)
		switch {
		case errdefs.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-time.After(goneInterval):
		case <-ctx.Done():
			return ctx.Err()
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
