package project

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// configs remembers git configurations by their paths.
type configs struct {
	settle time.Duration // as of a tree
	files  map[string]config
}

// config is what is shown of a git configuration.
type config struct {
	stamp   stamp
	settled bool
	item    item
	reason  string // why it is masked, empty where it is shown as it is
}

// item returns the file of the mask for a git configuration, and why there is
// one. Used takes what is remembered of it.
func (c configs) item(top *os.File, path string, used map[string]config) (item, string) {
	now, err := stampAt(int(top.Fd()), path)
	known, found := c.files[path]
	if !found || err != nil || !known.settled || known.stamp != now {
		known = c.read(top, path)
	}
	used[path] = known
	return known.item, known.reason
}

// read reads a git configuration. One that cannot be read as one is not shown.
func (c configs) read(top *os.File, path string) config {
	read := config{item: item{path: path, mode: unix.S_IFCHR}, reason: "is a git configuration that cannot be read as one"}
	now := time.Now()
	file, err := openBelow(top, path, 0)
	if err != nil {
		return read
	}
	defer file.Close()
	if read.stamp, err = stampAt(int(file.Fd()), ""); err != nil || read.stamp.mode&unix.S_IFMT != unix.S_IFREG {
		return read
	}
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err != nil || len(text) > maxConfigBytes {
		return read
	}
	read.settled = read.stamp.settled(now, c.settle)
	shown := withoutCredentials(string(text))
	if shown == string(text) {
		read.item, read.reason = item{}, ""
		return read
	}
	read.item = item{path: path, mode: read.stamp.mode, uid: read.stamp.uid, gid: read.stamp.gid, mtime: read.stamp.mtime, content: shown}
	read.reason = "is a git configuration, shown without credentials"
	return read
}
