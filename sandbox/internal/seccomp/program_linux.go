//go:build amd64 || arm64

package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// filter is a program of the classic Berkeley Packet Filter.
type filter []unix.SockFilter

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func answer(ret uint32) filter { return filter{stmt(unix.BPF_RET|unix.BPF_K, ret)} }

func (f *filter) load(offset uint32) {
	*f = append(*f, stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset))
}

// loadArg loads the lower half of an argument, which is all of an int.
func (f *filter) loadArg(n uint32) { f.load(offsetArgs + n*8) }

// loadType loads the type of a socket without its flags.
func (f *filter) loadType() {
	f.loadArg(1)
	*f = append(*f, stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf))
}

// when runs then, which must end with an answer, where the loaded value
// compares so with k.
func (f *filter) when(test uint16, k uint32, then filter) {
	jump := stmt(unix.BPF_JMP|test|unix.BPF_K, k)
	jump.Jf = uint8(len(then))
	*f = append(append(*f, jump), then...)
}

// unless is the contrary of when.
func (f *filter) unless(test uint16, k uint32, then filter) {
	jump := stmt(unix.BPF_JMP|test|unix.BPF_K, k)
	jump.Jt = uint8(len(then))
	*f = append(append(*f, jump), then...)
}

// whenAny runs then for any of these system calls.
func (f *filter) whenAny(calls []uintptr, then filter) {
	for _, call := range calls {
		f.when(unix.BPF_JEQ, uint32(call), then)
	}
}

// Install puts a filter on the calling thread and on all that it will start,
// for good. No program that they execute can gain privileges afterwards.
func Install(program []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	sock := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&sock)), 0, 0)
}
