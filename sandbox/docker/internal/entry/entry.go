// Package entry is the first process of a container: it waits for an order, runs
// one program and ends with it. See package protocol. It is this program's own
// binary, which an image has at [protocol.Path]; where that is started as the first
// process of a PID namespace by that name, the package ends it before main.
//
// As the container's init it inherits every orphan, and no signal from inside
// the container can end it. It must work where the program has used up all
// processes and all memory: it starts its threads before the program, collects
// no garbage, and leaves it to the kernel to kill others first.
//
// The thread that starts the program has put a filter of system calls on
// itself before. The program inherits it on top of the engine's own, which
// differs between engines and their versions.
//
// Where files are copied it is root until it has stored the skill's, so that
// the program cannot change them; then it is as unprivileged as elsewhere.
package entry
