// Package launcher starts the processes of jails from a small process, which is
// this program's own binary started again.
//
// A process with a user namespace of its own cannot share the memory of whoever
// starts it until it executes something: the kernel copies the page tables. Those
// of a server are large, and copying them takes longer than all else that the start
// of a process takes. Those of a launcher are small.
//
// A launcher is the parent of what it starts, and dies with the server. It knows no
// program, and is never told of any: what a jail is to run it hears from the server.
//
// It runs in the init function of this package. So that it runs before the init
// functions of all that a program of this module may be linked with, it imports
// little.
package launcher
