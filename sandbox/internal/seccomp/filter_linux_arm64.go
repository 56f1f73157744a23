package seccomp

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// foreignSyscalls is beyond all numbers: there is one interface only.
	foreignSyscalls = 0x4000_0000
)

// modesHere are those that only older architectures have.
var modesHere []modeCall

var refusedHere []uintptr

var missingHere []uintptr
