//go:build amd64 || arm64

package entry

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// groups is where the container's control groups are, of version 2 or 1.
const groups = "/sys/fs/cgroup/"

// readNumber returns the number in the first of the files that is there, or
// another one where none is or it has no number.
func readNumber(otherwise int64, files ...string) int64 {
	for _, file := range files {
		content, err := os.ReadFile(groups + file)
		if err != nil {
			continue
		}
		if value, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil {
			return value
		}
		break
	}
	return otherwise
}

// bounds returns what the container is held to, as a report has it.
func bounds() (memoryBytes, processes int64) {
	if entries, err := os.ReadDir(groups); err != nil || len(entries) == 0 {
		return 0, 0 // a kernel that has none, or does not show them
	}
	// The control group of which all others are part has no such files.
	return readNumber(math.MaxInt64, "memory.max", "memory/memory.limit_in_bytes"),
		readNumber(math.MaxInt64, "pids.max", "pids/pids.max")
}

// memoryUsed returns how much memory was in use at most and how many processes
// died of its limit.
func memoryUsed() (peakBytes, oomKills int64) {
	peakBytes = readNumber(0, "memory.peak", "memory/memory.max_usage_in_bytes") // version 2 has it since Linux 5.19
	events, err := os.ReadFile(groups + "memory.events")
	if err != nil {
		events, _ = os.ReadFile(groups + "memory/memory.oom_control")
	}
	for line := range strings.Lines(string(events)) {
		if number, found := strings.CutPrefix(line, "oom_kill "); found {
			oomKills, _ = strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		}
	}
	return peakBytes, oomKills
}
