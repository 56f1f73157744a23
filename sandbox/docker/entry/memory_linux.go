//go:build amd64 || arm64

package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reserveBytes is how much memory is kept from the program for what comes after
// it: what it left there, such as files of no length or shared memory, may be
// all that the run may have, and nobody would be killed for it but this process.
const reserveBytes = 8 << 20

// reserve is memory that is used for nothing.
type reserve []byte

func newReserve() reserve {
	memory, err := unix.Mmap(-1, 0, reserveBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil { // the program may have all there is
		return nil
	}
	return memory
}

// release gives the memory back to the run.
func (r reserve) release() {
	if r != nil {
		unix.Munmap(r)
	}
}

// victims is what tells the kernel whom to kill first when there is no memory
// left.
type victims struct {
	mark *os.File
	// own is the mark of this process. It may not go below what a privileged
	// process has set, such as systemd for all that a user starts.
	own string
}

// openVictims must come as long as this process is dumpable.
func openVictims() (victims, error) {
	mark, err := os.OpenFile("/proc/self/oom_score_adj", os.O_RDWR, 0)
	if err != nil {
		return victims{}, err
	}
	own := make([]byte, len("-1000\n"))
	n, err := mark.Read(own)
	return victims{mark, string(own[:n])}, err
}

// start starts a program that inherits the mark of a victim, with which this
// process does not go on.
func (v victims) start(program func() (pid int, err error)) (int, error) {
	if _, err := v.mark.WriteString("1000"); err != nil {
		return 0, err
	}
	pid, err := program()
	if _, unmarkErr := v.mark.WriteString(v.own); err == nil {
		err = unmarkErr
	}
	return pid, err
}

// memory asks the container's control group, of version 2 or 1, how much
// memory was in use at most and how many processes died of its limit.
func memory() (peakBytes, oomKills int64) {
	for _, files := range [][2]string{
		{"/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory.events"},
		{"/sys/fs/cgroup/memory/memory.max_usage_in_bytes", "/sys/fs/cgroup/memory/memory.oom_control"},
	} {
		events, err := os.ReadFile(files[1])
		if err != nil {
			continue
		}
		if peak, err := os.ReadFile(files[0]); err == nil { // version 2 has it since Linux 5.19
			peakBytes, _ = strconv.ParseInt(string(bytes.TrimSpace(peak)), 10, 64)
		}
		for line := range strings.Lines(string(events)) {
			if number, found := strings.CutPrefix(line, "oom_kill "); found {
				oomKills, _ = strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			}
		}
		return peakBytes, oomKills
	}
	return 0, 0
}
