package reaper

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// stopRounds is how often it is looked for processes that were started while the
// others were being stopped.
const stopRounds = 16

// Descendants are the processes below this one.
type Descendants struct{ found map[int]bool }

// Kill kills all of them. They are stopped first, parents and children alike,
// so that no program that keeps forking is faster. It reports whether there
// were such as it had not found before: others may come after these.
func (d *Descendants) Kill() (more bool) {
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
		more = more || !d.found[pid]
	}
	d.found = stopped
	return more
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
			if _, parent, found := look(child); found {
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

// leftBehind returns the names of processes below this one, sorted, at most
// maxLeftBehind, and how many more there are. Dead ones do not count.
func leftBehind() (names []string, omitted int) {
	for _, pid := range descendants(os.Getpid()) {
		if name, _, found := look(pid); found && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	most := min(maxLeftBehind, len(names))
	return names[:most], len(names) - most
}

// look returns the name of a process, which is empty where it is dead, and its
// parent.
func look(pid int) (name string, parent int, found bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// pid (name) state ppid …: the name may hold blanks and parentheses.
	start, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if err != nil || start < 0 || end < start || len(fields) < 2 {
		return "", 0, false
	}
	if state := fields[0][0]; state != 'Z' && state != 'X' {
		name = string(stat[start+1 : end])
	}
	return name, number(string(fields[1])), true
}

// number reads a number; it returns -1 for anything else.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
