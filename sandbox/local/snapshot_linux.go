//go:build amd64 || arm64

package local

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

const mountTable = "/proc/self/mountinfo"

// snapshot is what a jail process was made of, as it was then: a jail process has the
// mounts of that time, also where a run's directories are.
type snapshot struct {
	layout *layout
	files  []file
	mounts string // the table
	table  int    // descriptor
}

// file identifies a file.
type file struct{ dev, ino uint64 }

func (s *system) snapshot() (*snapshot, error) {
	// Not by os.Open: Go's poller would be told of changes in our place.
	table, err := unix.Open(mountTable, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile(mountTable)
	if err != nil {
		unix.Close(table)
		return nil, err
	}
	return &snapshot{layout: &s.layout, files: s.layout.identify(), mounts: string(mounts), table: table}, nil
}

func (s *snapshot) close() { unix.Close(s.table) }

// changed reports whether what a run is to see is not what the jail process has.
// The kernel tells that any mounts have changed by an exceptional condition of
// the file that lists them.
func (s *snapshot) changed(spec sandbox.Spec) bool {
	if !slices.Equal(s.files, s.layout.identify()) {
		return true
	}
	poll := []unix.PollFd{{Fd: int32(s.table), Events: unix.POLLPRI}}
	n, err := unix.Poll(poll, 0)
	if n == 0 && err == nil {
		return false
	}
	now, err := os.ReadFile(mountTable)
	if err != nil {
		return true
	}
	dirs := hostDirs(spec.Shares)
	for _, mount := range slices.Concat(s.layout.mounts, s.layout.ownMounts(spec)) {
		dirs = append(dirs, mount.Source)
	}
	for i := range dirs {
		dirs[i] = escapes.Replace(dirs[i])
	}
	return !slices.Equal(mountsAt(s.mounts, dirs), mountsAt(string(now), dirs))
}

// escapes are how the table writes what would break its lines.
var escapes = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)

// mountsAt returns the lines of a table that are about mounts of such
// directories, as it writes them, of those above and of those below.
func mountsAt(table string, dirs []string) (lines []string) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		concerns := func(dir string) bool {
			return pathname.Within(dir, fields[4]) || pathname.Within(fields[4], dir)
		}
		if len(fields) < 5 || slices.ContainsFunc(dirs, concerns) {
			lines = append(lines, line)
		}
	}
	return lines
}

// mountPoints returns where something is mounted, as a table writes it.
func mountPoints(table string) (points []string) {
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 4 {
			points = append(points, fields[4])
		}
	}
	return points
}

// hasMountsBelow reports whether one of these is below a directory.
func hasMountsBelow(points []string, dir string) bool {
	dir = escapes.Replace(dir) + "/"
	return slices.ContainsFunc(points, func(point string) bool { return strings.HasPrefix(point, dir) })
}

// identify returns which files and directories of the system there are now.
func (l *layout) identify() []file {
	files := make([]file, len(l.mounts))
	for i, mount := range l.mounts {
		var stat unix.Stat_t
		if unix.Stat(mount.Source, &stat) == nil {
			files[i] = file{uint64(stat.Dev), stat.Ino}
		}
	}
	return files
}
