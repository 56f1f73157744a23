//go:build !unix

package filestat

import "io/fs"

// Space returns the size, since the system does not say more.
func Space(info fs.FileInfo) int64 { return info.Size() }

// Links returns 1: more is not known without another system call on an open
// file.
func Links(fs.FileInfo) uint64 { return 1 }

func identify(fs.FileInfo) (ID, int64) { return ID{}, 0 }

// Owner returns nothing: a file belongs to who makes it.
func Owner(fs.FileInfo) (user, group int, known bool) { return 0, 0, false }

// Ours returns true: who owns a file is a matter of access lists here, which
// those of the directory above are handed down to.
func Ours(fs.FileInfo) bool { return true }

// WritableByOthers returns false, for the same reason.
func WritableByOthers(fs.FileInfo) bool { return false }
