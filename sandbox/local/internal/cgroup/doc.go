// Package cgroup bounds what all processes of a run use together: their memory,
// their number and their processor time.
//
// Where cgroups may be made depends on the system, and is found by making one,
// with its limits and with a process in it:
//
//   - version 1, which takes root: below the server's own cgroup;
//   - version 2, in what is delegated to the server: beside its own cgroup or
//     below it. No cgroup may have both processes and controlled children, so
//     that a server that is alone in a delegated cgroup moves to a leaf of it.
//   - version 2, in what belongs to systemd: below a scope that systemd makes
//     and delegates on request, and which ends with the server.
//
// Nothing is done behind a manager's back: cgroups that systemd has not
// delegated are left alone, and so are those of which the server's own is but
// a part, whose limits are meant for it.
package cgroup
