package escape

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func kernels() []Attempt {
	return group("kernel", []Attempt{
		{Name: "use-io-uring", Try: ioURing, Rare: true},
		{Name: "add-key", Try: addKey, Rare: true},
		{Name: "read-session-keyring", Try: sessionKeyring, Rare: true},
		{Name: "load-bpf", Try: loadBPF, Root: true, Rare: true},
		{Name: "open-perf-event", Try: perfEvent, Root: true, Rare: true},
		{Name: "use-userfaultfd", Try: call(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0), Root: true, Rare: true},
		{Name: "use-fanotify", Try: call(unix.SYS_FANOTIFY_INIT, 0, 0, 0), Root: true, Rare: true},
		{Name: "disable-address-randomization", Try: call(unix.SYS_PERSONALITY, 0x0040000, 0, 0)},
		{Name: "read-kernel-log", Try: kernelLog, Root: true},
		{Name: "read-clock-state", Try: clockState},
		{Name: "set-host-name", Try: setHostName, Root: true},
		{Name: "account-processes", Try: call(unix.SYS_ACCT, 0, 0, 0), Root: true, Rare: true},
		{Name: "attach-shared-memory", Try: attachMemory, Rare: true},
		{Name: "read-message-queue", Try: messageQueue, Rare: true},
		{Name: "open-posix-queue", Try: posixQueue, Rare: true},
		{Name: "open-terminal", Try: openDevice("/dev/ptmx"), Rare: true},
		{Name: "push-terminal-input", Try: pushInput, Root: true, Rare: true},
	})
}

func call(number, a, b, c uintptr) func(Victims) error {
	return func(Victims) error {
		_, _, errno := unix.Syscall(number, a, b, c)
		if errno != 0 {
			return errno
		}
		return nil
	}
}

func ioURing(Victims) error {
	parameters := make([]byte, 120)
	return call(unix.SYS_IO_URING_SETUP, 1, bytePointer(parameters), 0)(Victims{})
}

func addKey(Victims) error {
	_, err := unix.AddKey("user", "escape", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
	return err
}

func sessionKeyring(Victims) error {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_SESSION_KEYRING, true)
	return err
}

// loadBPF makes a map, the first thing that exploits need.
func loadBPF(Victims) error {
	attributes := [18]uint32{2, 4, 4, 1} // an array of one value
	const mapCreate = 0
	return call(unix.SYS_BPF, mapCreate, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes))(Victims{})
}

func perfEvent(Victims) error {
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER0, Config: unix.PERF_COUNT_SW_CPU_CLOCK}
	_, err := unix.PerfEventOpen(&attributes, 0, -1, -1, 0)
	return err
}

func kernelLog(Victims) error {
	_, err := unix.Klogctl(unix.SYSLOG_ACTION_SIZE_BUFFER, nil)
	if err == nil {
		_, err = unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 4096))
	}
	return err
}

func clockState(Victims) error {
	_, err := unix.Adjtimex(&unix.Timex{})
	return err
}

// setHostName sets the name that the host has.
func setHostName(v Victims) error { return unix.Sethostname([]byte(v.HostName)) }

func attachMemory(v Victims) error {
	memory, err := unix.SysvShmAttach(v.SharedMemory, 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	if string(memory[:len(secret)]) != secret {
		return errNotSecret
	}
	return nil
}

func messageQueue(v Victims) error {
	const peek = 0o40000 | 0o4000 // MSG_COPY | IPC_NOWAIT
	buf := make([]byte, 256)
	_, _, errno := unix.Syscall6(unix.SYS_MSGRCV, uintptr(v.Queue), bytePointer(buf), uintptr(len(buf)-8), 0, peek, 0)
	if errno == unix.ENOMSG || errno == unix.ENOSYS || errno == 0 { // the queue was there
		return nil
	}
	return errno
}

func posixQueue(v Victims) error {
	name, err := unix.BytePtrFromString(v.MessageQueue)
	if err != nil {
		return err
	}
	return call(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_RDONLY, 0)(Victims{})
}

// pushInput types into a terminal.
func pushInput(Victims) error {
	runtime.LockOSThread()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer terminal.Close()
	letter := byte('x')
	return call(unix.SYS_IOCTL, terminal.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))(Victims{})
}
