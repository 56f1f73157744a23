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
const stopRounds = 64

// KillDescendants kills the processes below this one. They are stopped first,
// parents and children alike, so that no program that keeps forking is faster.
func KillDescendants() {
	stopped := make(map[int]bool)
	for range stopRounds {
		before := len(stopped)
		eachDescendant(func(pid int) {
			if !stopped[pid] {
				stopped[pid] = true
				unix.Kill(pid, unix.SIGSTOP)
			}
		})
		if len(stopped) == before {
			break
		}
	}
	for pid := range stopped {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// eachDescendant calls visit for the processes below this one, parents before
// children. No process is visited much later than it was found: one that lives
// for a moment would be gone.
func eachDescendant(visit func(pid int)) {
	next := childrenOf
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		next = childrenByParent()
	}
	for queue := []int{os.Getpid()}; len(queue) > 0; queue = queue[1:] {
		for _, child := range next(queue[0]) {
			visit(child)
			queue = append(queue, child)
		}
	}
}

// childrenOf lists the children of a process, as its threads' lists of them
// show. Not every kernel has these.
func childrenOf(pid int) (children []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, _ := os.ReadDir(tasks) // it may be gone
	for _, thread := range threads {
		list, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children")
		for field := range bytes.FieldsSeq(list) {
			children = append(children, number(string(field)))
		}
	}
	return children
}

// childrenByParent looks at all processes for their parents.
func childrenByParent() func(pid int) []int {
	children := make(map[int][]int)
	processes, _ := os.ReadDir("/proc")
	for _, entry := range processes {
		if child := number(entry.Name()); child > 0 {
			if _, parent, found := look(child); found {
				children[parent] = append(children[parent], child)
			}
		}
	}
	return func(pid int) []int { return children[pid] }
}

// leftBehind returns the names of processes below this one, sorted, at most
// maxLeftBehind, and how many more there are. Dead ones do not count.
func leftBehind() (names []string, omitted int) {
	eachDescendant(func(pid int) {
		if name, _, found := look(pid); found && name != "" {
			names = append(names, name)
		}
	})
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
