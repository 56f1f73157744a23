package escape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What somebody else has locked while attempts are made: a file of the skill,
// by both kinds of locks, and one of the system.
const lockedInSystem = "/usr/lib/os-release"

func lockedInSkill() string { return filepath.Join(os.Getenv("SKILL_DIR"), "locked") }

// lock locks what the attempts are to know nothing of.
func (s *scene) lock(t *testing.T) {
	t.Helper()
	name := filepath.Join(s.skill, "locked")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	inSkill := openLocked(t, name, os.O_RDWR)
	// Not of the process, which lets go of all when it closes the file elsewhere.
	if err := unix.FcntlFlock(inSkill.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lockedInSystem); err == nil {
		openLocked(t, lockedInSystem, os.O_RDONLY)
	}
}

// openLocked locks a file until the end of the test.
func openLocked(t *testing.T, name string, flags int) *os.File {
	t.Helper()
	file, err := os.OpenFile(name, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); err != nil { // other tests may hold it too
		t.Fatal(err)
	}
	return file
}

// sharesLock succeeds where the lock of somebody else is in the way: then ours
// would be in theirs.
func sharesLock(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		return fmt.Errorf("%w: %w", errNotSecret, err)
	}
	return nil
}

func sharesRecordLock(Victims) error {
	file, err := os.Open(lockedInSkill())
	if err != nil {
		return err
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil {
		return err
	}
	if lock.Type == unix.F_UNLCK {
		return errNotSecret
	}
	return nil
}

// leaseFile makes whoever opens a file for writing wait.
func leaseFile(Victims) error {
	file, err := os.Open(filepath.Join(os.Getenv("SKILL_DIR"), "file"))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return err
}

// watchBySignal watches by the call that inotify has replaced.
func watchBySignal(Victims) error {
	dir, err := os.Open(os.Getenv("SKILL_DIR"))
	if err != nil {
		return err
	}
	defer dir.Close()
	const access = 1 // DN_ACCESS
	_, err = unix.FcntlInt(dir.Fd(), unix.F_NOTIFY, access)
	return err
}

// machine notes what tells one machine, and one start of it, from others.
func (s *scene) machine(t *testing.T) {
	t.Helper()
	s.victims.HostName, _ = os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id") // not every machine has one
	s.victims.MachineID = strings.TrimSpace(string(id))
	boot, err := os.ReadFile(bootID)
	if err != nil {
		t.Fatal(err)
	}
	s.victims.BootID = strings.TrimSpace(string(boot))
	s.victims.Logs = identity(logs)
	up, err := uptime()
	if err != nil {
		t.Fatal(err)
	}
	s.victims.Booted = time.Now().Add(-up)
	var disk unix.Statfs_t
	if err := unix.Statfs(s.workspace, &disk); err != nil {
		t.Fatal(err)
	}
	s.victims.DiskBlocks = disk.Blocks
}

const bootID = "/proc/sys/kernel/random/boot_id"

func readBootID(v Victims) error {
	id, err := os.ReadFile(bootID)
	if err == nil && strings.TrimSpace(string(id)) != v.BootID {
		err = errNotSecret
	}
	return err
}

// readLocks finds the lock of somebody else in the kernel's list.
func readLocks(Victims) error {
	list, err := os.ReadFile("/proc/locks")
	if err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Stat(lockedInSkill(), &stat); err != nil {
		return err
	}
	if !strings.Contains(string(list), fmt.Sprintf(":%d ", stat.Ino)) {
		return errNotSecret
	}
	return nil
}

// uptime is how long the machine has been running, by the clock that goes on
// while it sleeps.
func uptime() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano()), err
}

// learnUptime asks all that know: two clocks, the kernel's summary and two
// files. What tells the same to all programs is near by chance at some time, but
// not to seconds.
func learnUptime(v Victims) error {
	const precision = 10 * time.Second
	booted := func(uptime time.Duration) time.Time { return time.Now().Add(-uptime) }
	var known []time.Time
	if now, err := uptime(); err == nil {
		known = append(known, booted(now))
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		known = append(known, booted(time.Duration(info.Uptime)*time.Second))
	}
	var seconds float64
	if text, err := os.ReadFile("/proc/uptime"); err == nil {
		fmt.Sscan(string(text), &seconds)
		known = append(known, booted(time.Duration(seconds*float64(time.Second))))
	}
	if text, err := os.ReadFile("/proc/stat"); err == nil {
		var btime int64
		_, rest, _ := strings.Cut(string(text), "\nbtime ")
		fmt.Sscan(rest, &btime)
		known = append(known, time.Unix(btime, 0))
	}
	for _, at := range known {
		if at.Sub(v.Booted).Abs() < precision {
			return nil
		}
	}
	return errNotSecret
}

func learnDiskSize(v Victims) error {
	for _, name := range []string{".", os.Getenv("SKILL_DIR"), "/usr", "/"} {
		var disk unix.Statfs_t
		if unix.Statfs(name, &disk) == nil && disk.Blocks == v.DiskBlocks {
			return nil
		}
	}
	return errNotSecret
}
