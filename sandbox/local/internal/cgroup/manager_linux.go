package cgroup

import (
	"context"
	"fmt"
	"os"

	"github.com/godbus/dbus/v5"
)

// manager is the connection to systemd: that of the machine for root, that of
// the user for others.
type manager struct{ *dbus.Conn }

const (
	managerName      = "org.freedesktop.systemd1"
	managerPath      = dbus.ObjectPath("/org/freedesktop/systemd1")
	managerInterface = "org.freedesktop.systemd1.Manager"
)

// busSocket is where systemd has a bus listen. The variable of the
// environment for it is often not handed on by MCP hosts.
func busSocket() string {
	if uid := os.Geteuid(); uid != 0 {
		return fmt.Sprintf("/run/user/%d/bus", uid)
	}
	return "/run/dbus/system_bus_socket"
}

// dialManager connects to systemd. It costs nothing where there is none.
func dialManager(ctx context.Context) (*manager, error) {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil, fmt.Errorf("systemd does not run here: %w", err)
	}
	bus, err := dbus.Connect("unix:path="+busSocket(), dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("reach systemd: %w", err)
	}
	return &manager{bus}, nil
}

func (m *manager) call(ctx context.Context, method string, args ...any) *dbus.Call {
	return m.Object(managerName, managerPath).CallWithContext(ctx, managerInterface+"."+method, 0, args...)
}

// property is one of a unit, as systemd takes it.
type property struct {
	Name  string
	Value dbus.Variant
}

// auxiliary is a unit to be made along with another.
type auxiliary struct {
	Name       string
	Properties []property
}

// startScope makes a scope of a process, and waits until it is in it.
func (m *manager) startScope(ctx context.Context, unit string, pid int) error {
	removed := make(chan *dbus.Signal, 16)
	m.Signal(removed)
	match := []dbus.MatchOption{
		dbus.WithMatchSender(managerName), dbus.WithMatchInterface(managerInterface), dbus.WithMatchMember("JobRemoved"),
	}
	if err := m.AddMatchSignalContext(ctx, match...); err != nil {
		return err
	}
	properties := []property{
		{"Description", dbus.MakeVariant("Programs of skills, run by skills-mcp")},
		{"PIDs", dbus.MakeVariant([]uint32{uint32(pid)})},
		{"Delegate", dbus.MakeVariant(true)},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")}, // nothing is left of it
	}
	var job dbus.ObjectPath
	if err := m.call(ctx, "StartTransientUnit", unit, "fail", properties, []auxiliary{}).Store(&job); err != nil {
		return err
	}
	for {
		select {
		case signal, open := <-removed:
			if !open {
				return dbus.ErrClosed
			}
			if result, ended := resultOf(signal, job); ended && result != "done" {
				return fmt.Errorf("the job ended as %q", result)
			} else if ended {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// resultOf returns how a job ended, if that is what a signal tells.
func resultOf(signal *dbus.Signal, job dbus.ObjectPath) (result string, ended bool) {
	var number uint32
	var path dbus.ObjectPath
	var unit string
	err := dbus.Store(signal.Body, &number, &path, &unit, &result)
	return result, err == nil && path == job
}

// attach moves a process into a unit that is delegated.
func (m *manager) attach(ctx context.Context, unit string, pid int) error {
	return m.call(ctx, "AttachProcessesToUnit", unit, "", []uint32{uint32(pid)}).Err
}
