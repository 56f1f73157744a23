// Package vm runs tests of the sandboxes in virtual machines, where the system
// around the server can be what it is not on the machine of the tests: one with
// cgroups of version 2 only, without systemd and with it, with container
// engines of an ordinary user, and with other kernels and processors.
//
// What a machine boots, the script image makes from Debian's packages; `make
// test-setup` runs it. Where it or QEMU is missing, the tests skip and say so;
// where SKILLS_MCP_REQUIRE names vm, they fail instead. Where the processor's
// virtualization cannot be used, QEMU emulates a processor.
//
// A machine without systemd shows in half a minute what no other test does;
// `make test-all` boots all machines, and runs every test of the local sandbox
// too. The engines run the image that they are given by this machine's engine.
package vm
