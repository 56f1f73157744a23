//go:build amd64 || arm64

package main

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// bounds asks the container's control groups, of version 2 or 1, what they hold
// it to, as a report has it.
func bounds() (memoryBytes, processes int64) {
	const groups = "/sys/fs/cgroup/"
	if entries, err := os.ReadDir(groups); err != nil || len(entries) == 0 {
		return 0, 0 // a kernel that has none, or does not show them
	}
	return bound(groups+"memory.max", groups+"memory/memory.limit_in_bytes"),
		bound(groups+"pids.max", groups+"pids/pids.max")
}

// bound reads the first of the files that is there. The control group of which
// all others are part has none.
func bound(files ...string) int64 {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if value, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil {
			return value
		}
		break // "max"
	}
	return math.MaxInt64
}
