// Package files reads and changes the files of a directory that others may be
// changing at any time: by descriptors, following no symbolic link and entering
// no other file system. It is for Linux.
package files
