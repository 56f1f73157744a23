//go:build !unix

// Package filestat tells of a file what [fs.FileInfo] leaves to the system.
package filestat

import "io/fs"

// Space is the size, since the system does not tell more.
func Space(info fs.FileInfo) int64 { return info.Size() }

// Links is 1: more is not known without another system call on an open file.
func Links(fs.FileInfo) uint64 { return 1 }
