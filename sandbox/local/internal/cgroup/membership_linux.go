package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// membership is a process's place in one hierarchy: the path as /proc has it,
// of version 1 with its controllers, of version 2 without.
type membership struct{ controllers, path string }

type memberships []membership

// readMemberships reads those of a process, by its name in /proc.
func readMemberships(process string) (all memberships, err error) {
	content, err := os.ReadFile(filepath.Join("/proc", process, "cgroup"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number:controllers:path
		if len(fields) == 3 {
			all = append(all, membership{fields[1], fields[2]})
		}
	}
	return all, nil
}

// location is a directory of a hierarchy, and where that is mounted.
type location struct{ dir, mount string }

// separate returns the place in a controller's hierarchy of version 1.
func (m memberships) separate(controller string) (location, error) {
	for _, one := range m {
		if listHas(one.controllers, controller) {
			return locate(one.path, func(kind, options string) bool {
				return kind == "cgroup" && listHas(options, controller)
			})
		}
	}
	return location{}, fmt.Errorf("the controller %s is not one of version 1", controller)
}

// unified returns the place in the hierarchy of version 2.
func (m memberships) unified() (location, error) {
	for _, one := range m {
		if one.controllers == "" {
			return locate(one.path, func(kind, _ string) bool { return kind == "cgroup2" })
		}
	}
	return location{}, errors.New("the kernel has no cgroups of version 2")
}

// locate finds the directory of a path in a hierarchy that is mounted.
func locate(path string, wanted func(kind, options string) bool) (location, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return location{}, err
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kind) != 3 || !wanted(kind[0], kind[2]) {
			continue
		}
		root, mount := fields[3], fields[4]
		if below, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(below) {
			return location{dir: filepath.Join(mount, below), mount: mount}, nil
		}
	}
	return location{}, errors.New("no cgroup of the server is mounted")
}

func listHas(list, item string) bool { return slices.Contains(strings.Split(list, ","), item) }
