package files

import "golang.org/x/sys/unix"

// Root is what a target's directory is, to find out whether another one has its
// path.
type Root struct {
	Inode uint64 `json:"inode"`
	Born  int64  `json:"born,omitempty"` // nanoseconds since 1970; zero if not known
}

// RootOf returns what the directory of a tree is.
func RootOf(t *Tree) (Root, error) {
	var st unix.Statx_t
	err := unix.Statx(t.fd(), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil {
		return Root{}, err
	}
	r := Root{Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		r.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return r, nil
}
