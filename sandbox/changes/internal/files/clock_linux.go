package files

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// Stamp returns a time, in nanoseconds since 1970, that is later than any which
// a file has that was changed before the call, and no later than any that a file
// gets which is changed after it. File systems stamp with a clock that ticks
// every few milliseconds, so a file in dir is changed until its stamp is
// another: at once where the kernel has finer stamps when they are looked at,
// else at the next tick.
func Stamp(dir string) (int64, error) {
	file, err := os.OpenFile(filepath.Join(dir, "clock"), os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for first := int64(0); ; {
		if err := unix.Fchmod(int(file.Fd()), 0o600); err != nil { // changes the status
			return 0, err
		}
		now, err := StateOf(int(file.Fd()))
		switch {
		case err != nil:
			return 0, err
		case first == 0:
			first = now.Changed
		case now.Changed != first:
			return now.Changed, nil
		default:
			time.Sleep(200 * time.Microsecond)
		}
	}
}

// StampError is by how much the stamps of a tree can be behind those of this
// machine's clock: other machines, and programs that serve file systems, have
// clocks of their own.
func StampError(t *Tree) int64 {
	if filestat.Local(t.dir) {
		return 0
	}
	return int64(filestat.SettleTime)
}
