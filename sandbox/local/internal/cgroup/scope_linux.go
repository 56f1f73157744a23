package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// systemdTimeout is how long systemd may take to make a scope. It takes
// milliseconds, but may have to start the user's bus first.
const systemdTimeout = 3 * time.Second

// Idle starts a process that does nothing, to be in a scope that would end
// without any. It ends when end is called, and with this process in any case.
type Idle func() (pid int, end func(), err error)

// newScope has systemd make a scope, and divides that. A process holds it, so
// that this one can stay where it is: what it starts may begin in the scope,
// if the cgroup around both is this user's. It is not where a session of
// logind is the server's place, itself a scope. Then this process moves to its
// own, as with systemd-run.
func newScope(own location, idle Idle) (_ hierarchy, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), systemdTimeout)
	defer cancel()
	manager, err := dialManager(ctx)
	if err != nil {
		return nil, err
	}
	defer manager.Close()
	holder, end, err := idle()
	if err != nil {
		return nil, fmt.Errorf("hold a scope: %w", err)
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	unit := newName() + ".scope"
	if err := manager.startScope(ctx, unit, holder); err != nil {
		return nil, fmt.Errorf("have systemd make a scope: %w", err)
	}
	memberships, err := readMemberships(strconv.Itoa(holder))
	if err != nil {
		return nil, err
	}
	scope, err := memberships.unified()
	if err != nil || filepath.Base(scope.dir) != unit {
		return nil, errors.Join(fmt.Errorf("systemd has put the holder into %s", scope.dir), err)
	}
	if mayMove(own.dir, scope.dir) {
		err = toLeaf(scope.dir, "holder", holder)
	} else if err = moveInto(ctx, manager, unit, own, scope.dir); err == nil {
		end() // this process holds it now
	}
	if err != nil {
		return nil, err
	}
	h, err := divide(scope.dir)
	if err != nil {
		return nil, err
	}
	// Without a process, systemd removes the scope.
	h.undo = func() error { end(); return nil }
	return h, nil
}

// mayMove reports whether this user may move processes from one cgroup to
// another, which is so if that around both is the user's too.
func mayMove(from, to string) bool {
	around := from
	for !strings.HasPrefix(to+"/", strings.TrimSuffix(around, "/")+"/") {
		around = filepath.Dir(around)
	}
	return unix.Faccessat(unix.AT_FDCWD, filepath.Join(around, "cgroup.procs"), unix.W_OK, unix.AT_EACCESS) == nil
}

// moveInto has systemd move this process into its scope.
func moveInto(ctx context.Context, manager *manager, unit string, own location, scope string) error {
	if filepath.Ext(own.dir) != ".scope" {
		return fmt.Errorf("nothing can be moved from %s to a scope of the user's", filepath.Base(own.dir))
	}
	if err := manager.attach(ctx, unit, os.Getpid()); err != nil {
		return fmt.Errorf("have systemd move the server to a scope: %w", err)
	}
	return toLeaf(scope, "server", os.Getpid())
}

// toLeaf moves a process from a cgroup into a leaf of it.
func toLeaf(dir, name string, pid int) error {
	leaf := filepath.Join(dir, name)
	return errors.Join(os.Mkdir(leaf, 0o755), place(leaf, pid))
}
