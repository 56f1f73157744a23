package remote

import "syscall"

// createNoWindow is CREATE_NO_WINDOW.
const createNoWindow = 0x08000000

// ownSession keeps a process from a console, its keys and its prompts: it is
// needed until what it leads to is tidied up.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNoWindow | syscall.CREATE_NEW_PROCESS_GROUP}
}
