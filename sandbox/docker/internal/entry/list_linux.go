//go:build amd64 || arm64

package entry

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// list writes the paths of the executables in the directories of an order's Env,
// each ended by NUL, where the order's own can be written, and reports the bounds.
func list(order protocol.Order) protocol.Report {
	if err := unix.Access(order.Dir, unix.W_OK); err != nil {
		return protocol.Report{Errno: errnoOf(err)}
	}
	var found strings.Builder
	for _, dir := range order.Env {
		entries, _ := os.ReadDir(dir) // a directory that is not there holds nothing
		for _, entry := range entries {
			file := filepath.Join(dir, entry.Name())
			info, err := os.Stat(file) // follows links, as exec does
			if err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil {
				found.WriteString(file + "\x00")
			}
		}
	}
	if _, err := os.Stdout.WriteString(found.String()); err != nil {
		return protocol.Report{Errno: errnoOf(err)}
	}
	var report protocol.Report
	report.MemoryBytes, report.Processes = bounds()
	return report
}
