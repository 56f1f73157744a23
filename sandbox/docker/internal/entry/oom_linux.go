//go:build amd64 || arm64

package entry

import (
	"os"
	"strconv"
	"strings"
)

// oomScore says whom the kernel kills first when there is no memory left.
type oomScore struct {
	file *os.File
	// own is the score of this process. It may not go below what a privileged
	// process has set, such as systemd for all that a user starts.
	own string
	// reserve is higher, but lower than that of programs, which have little
	// memory of their own where files in memory have it all.
	reserve string
}

// programScore has the kernel kill programs before anything else.
const programScore = "1000"

// openOOMScore must come as long as this process is dumpable.
func openOOMScore() (oomScore, error) {
	file, err := os.OpenFile("/proc/self/oom_score_adj", os.O_RDWR, 0)
	if err != nil {
		return oomScore{}, err
	}
	text := make([]byte, len("-1000\n"))
	n, err := file.Read(text)
	if err != nil {
		return oomScore{}, err
	}
	own := string(text[:n])
	number, err := strconv.Atoi(strings.TrimSpace(own))
	return oomScore{file, own, strconv.Itoa((number + 1000) / 2)}, err
}

// start starts a process that inherits a score, with which this one does not go
// on.
func (s oomScore) start(score string, process func() (pid int, err error)) (int, error) {
	if _, err := s.file.WriteString(score); err != nil {
		return 0, err
	}
	pid, err := process()
	if _, resetErr := s.file.WriteString(s.own); err == nil {
		err = resetErr
	}
	return pid, err
}
