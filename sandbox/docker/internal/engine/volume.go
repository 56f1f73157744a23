package engine

import (
	"context"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
)

// Volume is a file system that the engine mounts for a container when that is
// started. It has no name, the labels of its container, and ends with it.
type Volume struct {
	Target string
	// Type, Device and Options are as for mount(8), in the engine's namespaces.
	Type, Device, Options string
}

func (v Volume) mount(labels map[string]string) mount.Mount {
	return mount.Mount{
		Type: mount.TypeVolume, Target: v.Target,
		VolumeOptions: &mount.VolumeOptions{
			NoCopy: true, // what the image has there
			Labels: labels,
			DriverConfig: &mount.Driver{
				Name:    "local",
				Options: map[string]string{"type": v.Type, "device": v.Device, "o": v.Options},
			},
		},
	}
}

// ListVolumes returns the labels of all volumes, by name, that have a label of
// that name and value.
func (e *Engine) ListVolumes(ctx context.Context, label, value string) (map[string]map[string]string, error) {
	listed, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label+"="+value))})
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[string]string)
	for _, v := range listed.Volumes {
		found[v.Name] = v.Labels
	}
	return found, nil
}

// RemoveVolume removes a volume that no container uses. It is no error that it
// is gone.
func (e *Engine) RemoveVolume(ctx context.Context, name string) error {
	return e.api.VolumeRemove(ctx, name, true)
}
