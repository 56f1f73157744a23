// Package jail is the inside of a local sandbox: what the server's own binary
// does when it is started again to be the parent of a program. It builds the
// program's file system, takes all rights away and starts it.
//
// It runs in the init function of this package. So that it runs before the
// init functions of all that a program of this module may be linked with, it
// imports little.
package jail

// Name is the name by which the binary knows that it is to be a jail.
const Name = "skills-mcp-jail"

// The identity of programs inside a jail with a file system of its own.
const (
	UserID  = 1000
	GroupID = 1000
)

// Setting is what a jail is told at its start: what is the same for all
// programs.
type Setting struct {
	// Root is the file system to build; nil leaves the program in the
	// server's, and in its namespaces.
	Root *Root
}

// Orders are what a jail is told to run.
type Orders struct {
	Argv []string // the first is the absolute path of the program
	Env  []string
	Dir  string
	// Mounts are added to the file system, and then Shares, which may be over
	// them.
	Mounts []Mount
	Shares []Share
	Rights Rights
	Limits []Limit
	// Listen, if positive, is the port of a socket that listens on the loopback
	// interface when the program is started. The jail, which has a Root then,
	// returns the socket.
	Listen int
}

// Limit is a resource limit, soft and hard.
type Limit struct {
	Resource int
	Value    uint64
}

// Root is a file system. All targets are absolute, without symbolic links and
// "..", and no mount is below another.
type Root struct {
	Mounts []Mount
	Files  []File
	Links  []Link
	// TmpBytes bounds /tmp.
	TmpBytes int64
}

// Mount shows a file or a directory of the server.
type Mount struct {
	Target string
	// Source is a path; where it is empty, the mount is that of the file of
	// that number, detached.
	Source   string
	File     int
	Dir      bool // not a file
	Writable bool
	// Private shows a directory by files of the run's own, which hold what is
	// in the server's: locks on the ones are none on the others. It cannot be
	// had for mounts below the directory, which are not seen then.
	Private bool
	// Single leaves out what is mounted below a directory, and refuses links in
	// the path.
	Single bool
}

// Share shows the directories of the server that are its layers, the uppermost
// first, as an overlay.
type Share struct {
	Target string
	Layers []Mount
	// Changes is the directory that holds the upper and the working directory
	// of the overlay; nil where nothing can be changed.
	Changes *Mount
}

// File is a file of a few bytes, made for one run.
type File struct {
	Path, Content string
}

// Link is a symbolic link.
type Link struct {
	Path, Target string
}

// Rights are what programs may do, however they are found.
type Rights struct {
	// Landlock are the paths that may be used; what is not below one of them
	// may not. Paths that do not exist are passed over.
	Landlock []Grant
	// Shared reports that the program is in the server's namespaces: whatever
	// could reach somebody else's process there is refused too, such as any
	// socket but connected pairs.
	Shared bool
	// User is who runs the program, with the group of that number and no other;
	// 0 for the jail's own user.
	User int
}

// Grant allows the use of a file, or of all that is below a directory.
type Grant struct {
	Path string
	// Write allows to write, make and remove; WriteFiles to write what is
	// there.
	Write, WriteFiles bool
	// List allows to list directories alone. Exact takes a path as it is, and
	// passes over one that is a link.
	List, Exact bool
}
