package supervisor

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stopRounds is how often one looks for processes that were started while the
// others were being stopped.
const stopRounds = 16

// KillDescendants kills every process below this one. They are stopped first,
// parents and children alike, lest a program that keeps forking be faster.
func KillDescendants() {
	stopped := make(map[int]bool)
	for range stopRounds {
		before := len(stopped)
		for _, pid := range descendants(os.Getpid()) {
			if !stopped[pid] {
				stopped[pid] = true
				unix.Kill(pid, unix.SIGSTOP)
			}
		}
		if len(stopped) == before {
			break
		}
	}
	for pid := range stopped {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// descendants lists the processes below pid, as /proc shows them.
func descendants(pid int) []int {
	children := make(map[int][]int)
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range processes {
		if child := number(entry.Name()); child > 0 {
			if parent := parentOf(entry.Name()); parent > 0 {
				children[parent] = append(children[parent], child)
			}
		}
	}
	found := children[pid]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// parentOf gives the parent of a process, or -1 where it is gone.
func parentOf(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return -1
	}
	// pid (name) state ppid …: the name may hold blanks and parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return -1
	}
	return number(string(fields[1]))
}

// number reads a number; it gives -1 for anything else.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
