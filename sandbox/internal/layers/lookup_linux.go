package layers

import (
	"os"

	"golang.org/x/sys/unix"
)

// lookup returns in which layers a name is, more than one for directories only,
// and what it is in the first: none where it is not there, or hidden.
func (s stack) lookup(name string) (layers []int, stat unix.Stat_t, err error) {
	for i, d := range s {
		if d == noDir {
			continue
		}
		here, err := d.stat(name)
		switch isDir := here.Mode&unix.S_IFMT == unix.S_IFDIR; {
		case err == unix.ENOENT:
		case err != nil:
			return nil, here, err
		case len(layers) > 0 && !isDir:
			return layers, stat, nil
		case isWhiteout(&here):
			return nil, here, nil
		case !isDir:
			return []int{i}, here, nil
		default:
			if len(layers) == 0 {
				stat = here
			}
			layers = append(layers, i)
		}
	}
	return layers, stat, nil
}

// self is what a directory is in its first layer.
func (s stack) self() (unix.Stat_t, error) {
	for _, d := range s {
		if d != noDir {
			return d.self()
		}
	}
	return unix.Stat_t{}, unix.ENOENT
}

// owner is whose a share is. Where the server is root, nothing is done that they
// may not do.
type owner struct{ user, group uint32 }

// What a user may do with a file, as the bits of its mode have it for others.
const (
	mayRead  = 4
	mayEnter = 1
)

// may reports whether a file can be read, or a directory entered. Where the
// server is not root, the kernel says so by itself.
func (o owner) may(stat *unix.Stat_t, what uint32) bool {
	switch {
	case os.Geteuid() != 0 || o.user == 0:
		return true
	case stat.Uid == o.user:
		what <<= 6
	case stat.Gid == o.group:
		what <<= 3
	}
	return stat.Mode&what != 0
}

// mayWrite reports whether a program could write to a file, or make one in a
// directory. Nothing of that is asked of the kernel: what is written is the
// server's own.
func (o owner) mayWrite(stat *unix.Stat_t) bool {
	user := uint32(os.Geteuid())
	if user == 0 {
		user = o.user
	}
	switch user {
	case 0:
		return true
	case stat.Uid:
		return stat.Mode&0o200 != 0
	}
	return stat.Mode&0o022 != 0
}
