package testdata

import "syscall"

// makeDevice makes a node of the device /dev/zero (character, 1:5).
func makeDevice(path string) error {
	return syscall.Mknod(path, syscall.S_IFCHR|0o644, 1<<8|5)
}
