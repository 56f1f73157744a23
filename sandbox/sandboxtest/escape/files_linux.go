package escape

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func files() []Attempt {
	return group("files", []Attempt{
		{Name: "read-file", Try: func(v Victims) error { return readsSecret(v.secret()) }},
		{Name: "stat-file", Try: func(v Victims) error { _, err := os.Lstat(v.secret()); return err }},
		{Name: "test-access-of-file", Try: func(v Victims) error { return unix.Access(v.secret(), unix.R_OK) }},
		{Name: "list-directory", Try: func(v Victims) error { _, err := os.ReadDir(v.Dir); return err }},
		{Name: "enter-directory", Try: func(v Victims) error { return os.Chdir(v.Dir) }},
		{Name: "watch-directory", Try: func(v Victims) error { return watch(v.Dir) }},
		{Name: "watch-skill", Try: func(Victims) error { return watch(os.Getenv("SKILL_DIR")) }},
		{Name: "watch-system-programs", Try: func(Victims) error { return watch("/usr/bin") }},
		{Name: "watch-device", Try: func(Victims) error { return watch("/dev/null") }},
		{Name: "watch-skill-by-signal", Try: watchBySignal, Rare: true},
		{Name: "share-lock-of-skill", Try: func(Victims) error { return sharesLock(lockedInSkill()) }},
		{Name: "share-record-lock-of-skill", Try: sharesRecordLock},
		{Name: "share-lock-of-system", Try: func(Victims) error { return sharesLock(lockedInSystem) }},
		{Name: "lease-file-of-skill", Try: leaseFile},
		{Name: "write-file", Try: overwrite, Done: secretChanged},
		{Name: "append-to-file", Shell: `echo more >> "$VICTIM/secret"`, Done: secretChanged},
		{Name: "truncate-file", Try: func(v Victims) error { return os.Truncate(v.secret(), 0) }, Done: secretChanged},
		{Name: "create-file", Shell: `: > "$VICTIM/new"`, Done: exists("new")},
		{Name: "create-directory", Shell: `mkdir "$VICTIM/new"`, Done: exists("new")},
		{Name: "create-socket", Try: createSocket, Done: exists("new")},
		{Name: "create-fifo", Shell: `mkfifo "$VICTIM/new"`, Done: exists("new")},
		{Name: "create-link", Shell: `ln -s / "$VICTIM/new"`, Done: exists("new")},
		{Name: "remove-file", Shell: `rm "$VICTIM/secret"`, Done: secretChanged},
		{Name: "rename-file", Shell: `mv "$VICTIM/secret" "$VICTIM/new"`, Done: exists("new")},
		{Name: "move-file-out", Shell: `echo x > moved && mv moved "$VICTIM/new"`, Done: exists("new")},
		{Name: "change-mode", Try: func(v Victims) error { return os.Chmod(v.secret(), 0o666) }},
		{Name: "change-owner", Try: func(v Victims) error { return os.Chown(v.secret(), os.Getuid(), os.Getgid()) }},
		{Name: "change-times", Try: func(v Victims) error { return os.Chtimes(v.secret(), time.Unix(1, 0), time.Unix(1, 0)) }},
		{Name: "change-attributes", Try: func(v Victims) error { return unix.Setxattr(v.secret(), "user.escape", []byte("x"), 0) }, Rare: true},
		{Name: "lock-file", Try: lockFile},
		{Name: "read-through-link", Shell: `ln -s "$VICTIM/secret" link && grep -q secret link`},
		{Name: "read-through-directory-link", Shell: `ln -s "$VICTIM" link && grep -q secret link/secret`},
		{Name: "write-through-link", Shell: `ln -s "$VICTIM/secret" link && echo x > link`, Done: secretChanged},
		{Name: "hard-link-into-workspace", Shell: `ln "$VICTIM/secret" hard && grep -q secret hard`},
		{Name: "read-by-parent-directories", Shell: `grep -q secret "../../../../../../../../../../..$VICTIM/secret"`},
		{Name: "read-by-proc-root", Shell: `grep -q secret "/proc/self/root$VICTIM/secret"`},
		{Name: "read-by-proc-cwd", Shell: `cd / && grep -q secret "/proc/self/cwd$VICTIM/secret"`},
		{Name: "read-by-another-process-root", Shell: `grep -q secret "/proc/$VICTIM_PID/root$VICTIM/secret"`},
		{Name: "read-by-handle", Try: readByHandle, Root: true},
		{Name: "execute-file", Try: executeFile},
		{Name: "leave-set-user-id-file", Shell: `cp /bin/true trap && chmod 4755 trap && test -u trap`},
		{Name: "leave-set-group-id-file", Shell: `cp /bin/true trap && chmod 2755 trap && test -g trap`},
		{Name: "make-set-user-id-file", Try: makeSetID},
		{Name: "create-in-skill", Shell: `: > "$SKILL_DIR/new"`},
		{Name: "change-mode-in-skill", Shell: `chmod 600 "$SKILL_DIR/file"`},
		{Name: "write-in-skill", Shell: `echo x > "$SKILL_DIR/file"`},
		{Name: "remove-from-skill", Shell: `rm "$SKILL_DIR/other"`},
		{Name: "write-to-tmp-of-host", Try: writeMarker("/tmp"), Done: markerIn("/tmp")},
		{Name: "write-to-shm-of-host", Try: writeMarker("/dev/shm"), Done: markerIn("/dev/shm"), Rare: true},
		{Name: "read-machine-id", Try: readMachineID, Rare: true},
		{Name: "read-shadow", Shell: `cat /etc/shadow`, Root: true},
		{Name: "read-boot-id", Try: readBootID},
		{Name: "read-locks", Try: readLocks},
		{Name: "learn-uptime", Try: learnUptime},
		{Name: "learn-size-of-disk", Try: learnDiskSize},
		{Name: "read-mounts-of-host", Shell: `cat "/proc/$VICTIM_PID/mountinfo"`},
		{Name: "list-var", Try: listLogs},
		{Name: "list-sys", Shell: `ls /sys/class/net`},
		{Name: "read-kernel-command-line", Shell: `grep -q . /proc/cmdline`},
		{Name: "read-kernel-symbols", Shell: `head -c 10 /proc/kallsyms | grep -q .`, Rare: true},
		{Name: "read-kernel-log-device", Try: openDevice("/dev/kmsg"), Root: true, Rare: true},
		{Name: "make-device", Try: makeDevice, Root: true},
		{Name: "write-to-system", Try: writeMarker("/usr/lib"), Done: markerIn("/usr/lib"), Root: true},
		{Name: "write-core-pattern", Shell: `cat /proc/sys/kernel/core_pattern > saved && cat saved > /proc/sys/kernel/core_pattern`, Root: true},
		{Name: "write-sysrq", Shell: `echo h > /proc/sysrq-trigger`, Root: true, Rare: true},
		{Name: "make-cgroup", Try: makeCgroup, Root: true, Rare: true},
	})
}

func (v Victims) secret() string { return filepath.Join(v.Dir, "secret") }

var errNotSecret = errors.New("that is not the secret")

func readsSecret(name string) error {
	content, err := os.ReadFile(name)
	if err == nil && !strings.Contains(string(content), secret) {
		err = errNotSecret
	}
	return err
}

func secretChanged(v Victims) bool {
	content, err := os.ReadFile(v.secret())
	return err != nil || string(content) != secret
}

func exists(name string) func(Victims) bool {
	return func(v Victims) bool {
		_, err := os.Lstat(filepath.Join(v.Dir, name))
		return err == nil
	}
}

func overwrite(v Victims) error { return os.WriteFile(v.secret(), []byte("overwritten"), 0o600) }

func watch(name string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	_, err = unix.InotifyAddWatch(fd, name, unix.IN_ALL_EVENTS)
	return err
}

func createSocket(v Victims) error {
	return unix.Mknod(filepath.Join(v.Dir, "new"), unix.S_IFSOCK|0o600, 0)
}

func lockFile(v Victims) error {
	file, err := os.Open(v.secret())
	if err != nil {
		return err
	}
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// readByHandle opens a file by its handle, which the well-known exploit guesses, at
// whatever is seen of its file system, such as the workspace.
func readByHandle(v Victims) (err error) {
	handle := unix.NewFileHandle(v.HandleType, v.Handle)
	for _, at := range []string{v.Dir, ".", "/"} {
		var dir, fd int
		if dir, err = unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
			continue
		}
		if fd, err = unix.OpenByHandleAt(dir, handle, unix.O_RDONLY); err == nil {
			return readsSecret(fmt.Sprintf("/proc/self/fd/%d", fd))
		}
	}
	return err
}

func executeFile(v Victims) error {
	process, err := os.StartProcess(filepath.Join(v.Dir, "program"), []string{"program"}, &os.ProcAttr{})
	if err != nil {
		return err
	}
	_, err = process.Wait()
	return err
}

func writeMarker(dir string) func(Victims) error {
	return func(v Victims) error { return os.WriteFile(filepath.Join(dir, v.Marker), nil, 0o600) }
}

// markerIn finds a marker and removes it.
func markerIn(dir string) func(Victims) bool {
	return func(v Victims) bool { return os.Remove(filepath.Join(dir, v.Marker)) == nil }
}

func readMachineID(v Victims) error {
	content, err := os.ReadFile("/etc/machine-id")
	if err == nil && (v.MachineID == "" || strings.TrimSpace(string(content)) != v.MachineID) {
		err = errNotSecret
	}
	return err
}

// listLogs lists the directory of the machine's logs, not of another one of that
// name.
func listLogs(v Victims) error {
	if _, err := os.ReadDir(logs); err != nil {
		return err
	}
	if v.Logs == "" || identity(logs) != v.Logs {
		return errNotSecret
	}
	return nil
}

const logs = "/var/log"

// identity tells files apart that have the same name.
func identity(name string) string {
	var stat unix.Stat_t
	if err := unix.Stat(name, &stat); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

func openDevice(name string) func(Victims) error {
	return func(Victims) error {
		fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
}

// makeDevice makes a device of the kernel's memory-like files, which harms
// nothing where it works.
func makeDevice(Victims) error {
	if err := unix.Mknod("device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))); err != nil { // /dev/zero
		return err
	}
	return openDevice("device")(Victims{})
}

func makeCgroup(v Victims) error {
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		dir := filepath.Join(root, v.Marker)
		if err := os.Mkdir(dir, 0o755); err == nil {
			return os.Remove(dir)
		}
	}
	return unix.EACCES
}

// bytePointer returns the address of a buffer for a raw system call.
func bytePointer(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// makeSetID makes a set-user-ID file without changing the mode of one.
func makeSetID(Victims) error {
	fd, err := unix.Open("trap", unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o4755)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_ISUID == 0 {
		return errors.New("it has an ordinary mode")
	}
	return nil
}
