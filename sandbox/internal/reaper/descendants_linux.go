package reaper

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/procstat"
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
			if stat, found := look(child); found {
				children[stat.Parent] = append(children[stat.Parent], child)
			}
		}
	}
	return func(pid int) []int { return children[pid] }
}

// leftBehind returns the names of processes below this one, sorted, at most
// maxLeftBehind, and how many more there are. Dead ones do not count, nor other.
func leftBehind(other int) (names []string, omitted int) {
	eachDescendant(func(pid int) {
		if stat, found := look(pid); found && !stat.Dead() && pid != other {
			names = append(names, cmp.Or(stat.Name, "(no name)"))
		}
	})
	slices.Sort(names)
	most := min(maxLeftBehind, len(names))
	return names[:most], len(names) - most
}

// look returns what a process is, unless it is gone.
func look(pid int) (stat procstat.Stat, found bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procstat.Stat{}, false
	}
	return procstat.Parse(text)
}

// number reads a number; it returns -1 for anything else.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
