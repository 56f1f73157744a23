// Package supervisor runs a program below a process that outlives it, the
// supervisor: this same binary, started again, which is the program's parent,
// reaps every process of the run and returns when none is left. The server
// holds it by a control pipe, a socket: when the server closes that, or dies,
// everything below the supervisor is killed.
//
// The server's side is [Spawn], since a supervisor may be there before its
// program is known, and [Tree]; the supervisor's side is [Asked] and [Serve].
// Both are for Linux.
package supervisor
