//go:build !unix

package project

import (
	"io/fs"
	"os"
)

// ownedByUs takes every file for this user's: the system does not say.
func ownedByUs(fs.FileInfo) bool { return true }

// chownLike does nothing: a file belongs to who makes it.
func chownLike(*os.File, fs.FileInfo) error { return nil }
