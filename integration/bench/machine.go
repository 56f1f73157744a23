package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// thisMachine says what the numbers were measured on, and how busy it was.
func thisMachine() string {
	said := []string{fmt.Sprintf("%s/%s with %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	if model := field("/proc/cpuinfo", `(?m)^model name\s*: (.*)$`); model != "" {
		said[0] += " (" + model + ")"
	}
	if kilobytes, err := strconv.Atoi(field("/proc/meminfo", `(?m)^MemTotal:\s+(\d+) kB$`)); err == nil {
		said = append(said, fmt.Sprintf("%.0f GB of memory", float64(kilobytes)/(1<<20)))
	}
	if kernel, err := exec.Command("uname", "-sr").Output(); err == nil {
		said = append(said, strings.TrimSpace(string(kernel)))
	}
	if load := field("/proc/loadavg", `^\S+ (\S+)`); load != "" {
		said = append(said, "load "+load)
	}
	return strings.Join(said, ", ")
}

// field returns the first group of what a pattern finds in a file, or nothing.
func field(path, pattern string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}
