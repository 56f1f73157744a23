//go:build amd64 || arm64

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserveBytes is how much memory is kept from the program for what comes after
// it: what it left there, such as files of no length or shared memory, may be
// all that the run may have, and only this process would be killed for it.
const reserveBytes = 8 << 20

// newReserve returns memory that is used for nothing, until it is unmapped.
func newReserve() []byte {
	memory, err := unix.Mmap(-1, 0, reserveBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil { // the program may have all there is
		return nil
	}
	return memory
}

// oomScore says whom the kernel kills first when there is no memory left.
type oomScore struct {
	file *os.File
	// own is the score of this process. It may not go below what a privileged
	// process has set, such as systemd for all that a user starts.
	own string
}

// openOOMScore must come as long as this process is dumpable.
func openOOMScore() (oomScore, error) {
	file, err := os.OpenFile("/proc/self/oom_score_adj", os.O_RDWR, 0)
	if err != nil {
		return oomScore{}, err
	}
	own := make([]byte, len("-1000\n"))
	n, err := file.Read(own)
	return oomScore{file, string(own[:n])}, err
}

// start starts a program that inherits the highest score, with which this
// process does not go on.
func (s oomScore) start(program func() (pid int, err error)) (int, error) {
	if _, err := s.file.WriteString("1000"); err != nil {
		return 0, err
	}
	pid, err := program()
	if _, resetErr := s.file.WriteString(s.own); err == nil {
		err = resetErr
	}
	return pid, err
}
