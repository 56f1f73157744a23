package project

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// configs remembers git configurations by their paths.
type configs map[string]config

// config is what is shown of a git configuration.
type config struct {
	stamp   stamp
	settled bool
	item    item
	reason  string // why it is masked, empty where it is shown as it is
}

// item returns the file of the mask for a git configuration, and why there is
// one. Used takes what is remembered of it.
func (c configs) item(top *os.File, path string, used configs) (item, string) {
	now, err := stampAt(int(top.Fd()), path)
	known, found := c[path]
	if !found || err != nil || !known.settled || known.stamp != now {
		known = readConfig(top, path)
	}
	used[path] = known
	return known.item, known.reason
}

// readConfig reads a git configuration. One that cannot be read as one is not
// shown.
func readConfig(top *os.File, path string) config {
	c := config{item: item{path: path, mode: unix.S_IFCHR}, reason: "is a git configuration that cannot be read as one"}
	now := time.Now()
	file, err := openBelow(top, path, 0)
	if err != nil {
		return c
	}
	defer file.Close()
	if c.stamp, err = stampAt(int(file.Fd()), ""); err != nil || c.stamp.mode&unix.S_IFMT != unix.S_IFREG {
		return c
	}
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err != nil || len(text) > maxConfigBytes {
		return c
	}
	c.settled = c.stamp.settledAt(now)
	shown := withoutCredentials(string(text))
	if shown == string(text) {
		c.item, c.reason = item{}, ""
		return c
	}
	c.item = item{path: path, mode: c.stamp.mode, uid: c.stamp.uid, gid: c.stamp.gid, mtime: c.stamp.mtime, content: shown}
	c.reason = "is a git configuration, shown without credentials"
	return c
}
