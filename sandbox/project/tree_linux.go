package project

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	// lookers is how many goroutines look at directories at once.
	lookers = 4
	// readBatch is how many entries of a directory are read together.
	readBatch = 1024
	// maxPathBytes is how long a path may be to be looked into and masked: the
	// system's bound less what the mask's own place needs.
	maxPathBytes = 3000
)

// tree is what is remembered of a directory and those below it.
type tree struct {
	options ViewOptions
	settle  time.Duration    // how long after a change times may not tell the next
	nodes   map[string]*node // by slash-separated path, "." at the top; nil if not known
}

// node is one directory.
type node struct {
	path  string
	stamp stamp
	// settled reports that with this stamp nothing else can have been read.
	settled bool
	// closed says why nobody knows what is in it.
	closed   string
	children []string // names of directories that are not masked
	masks    []mask
	entries  int
}

// mask is an entry of a directory that programs do not see as it is.
type mask struct {
	name, reason string
	config       bool // a git configuration
}

// stamp is what a file or directory has in one state and in no other.
type stamp struct {
	dev, ino     uint64
	mtime, ctime int64 // nanoseconds since 1970
	size         uint64
	mode         uint32
	uid, gid     uint32
}

// stampAt returns the stamp of a path, or with an empty one of at itself.
func stampAt(at int, path string) (stamp, error) {
	var x unix.Statx_t
	err := unix.Statx(at, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS, &x)
	return stamp{
		dev: uint64(x.Dev_major)<<32 | uint64(x.Dev_minor), ino: x.Ino,
		mtime: x.Mtime.Sec*int64(time.Second) + int64(x.Mtime.Nsec), ctime: x.Ctime.Sec*int64(time.Second) + int64(x.Ctime.Nsec),
		size: x.Size, mode: uint32(x.Mode), uid: x.Uid, gid: x.Gid,
	}, err
}

// settled reports whether what is read now is all that a file or directory with
// this stamp can hold.
func (s stamp) settled(now time.Time, settle time.Duration) bool {
	return max(s.mtime, s.ctime) < now.Add(-settle).UnixNano()
}

// openTop opens the directory that is shown.
func openTop(dir string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), dir), nil
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP:
		return nil, refuse(RuleMissing, dir, "is not there any more, or is another directory")
	case unix.EACCES, unix.EPERM:
		return nil, refuse(RuleUnreadable, dir, "cannot be read by this user")
	}
	return nil, &fs.PathError{Op: "openat2", Path: dir, Err: err}
}

// openBelow opens what is at a path, through no link and into no other file
// system.
func openBelow(top *os.File, path string, flags uint64) (*os.File, error) {
	for {
		fd, err := unix.Openat2(int(top.Fd()), path, &unix.OpenHow{
			Flags:   flags | unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW,
			Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH | unix.RESOLVE_NO_XDEV,
		})
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), filepath.Join(top.Name(), path)), nil
		case unix.EAGAIN, unix.EINTR: // something was renamed meanwhile
			continue
		}
		return nil, err
	}
}

// refresh looks at the directories that changed since the last time. After an
// error it begins from nothing.
func (t *tree) refresh(ctx context.Context, top *os.File) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.options.MaxTime, refuse(RuleTooLarge, t.options.Dir,
		"takes too long to be looked through for what must be hidden; share directories in it instead, with --share"))
	defer cancel()
	stale := []string{"."}
	if t.nodes == nil {
		t.nodes = map[string]*node{}
	} else {
		stale = t.stale(top)
	}
	err := t.walk(ctx, top, stale)
	if n := t.nodes["."]; err == nil && (n == nil || n.closed != "") {
		err = refuse(RuleUnreadable, t.options.Dir, "cannot be read by this user")
	}
	if err != nil {
		t.nodes = nil
	}
	return err
}

// stale returns the directories that may hold something else than when they
// were read.
func (t *tree) stale(top *os.File) []string {
	nodes := slices.Collect(maps.Values(t.nodes))
	changed := make([]bool, len(nodes))
	inParallel(len(nodes), func(i int) {
		n := nodes[i]
		now, err := stampAt(int(top.Fd()), n.path)
		changed[i] = err != nil || now != n.stamp || !n.settled
	})
	var stale []string
	for i, n := range nodes {
		if changed[i] {
			stale = append(stale, n.path)
		}
	}
	return stale
}

// inParallel calls f with 0 to n-1.
func inParallel(n int, f func(int)) {
	var group errgroup.Group
	for looker := range lookers {
		group.Go(func() error {
			for i := n * looker / lookers; i < n*(looker+1)/lookers; i++ {
				f(i)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// walk reads directories, and those that it finds in them and does not know.
func (t *tree) walk(ctx context.Context, top *os.File, paths []string) error {
	entries := 0
	for _, n := range t.nodes {
		entries += n.entries
	}
	for len(paths) > 0 {
		batch := paths[:min(len(paths), readBatch)]
		read := make([]*node, len(batch))
		inParallel(len(batch), func(i int) { read[i] = t.read(ctx, top, batch[i], t.options.MaxEntries) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		paths = paths[len(batch):]
		for i, n := range read {
			if n == nil || !t.listed(n.path) {
				entries -= t.drop(batch[i])
				continue
			}
			paths = append(paths, t.put(n, &entries)...)
		}
		if entries > t.options.MaxEntries {
			return refuse(RuleTooLarge, t.options.Dir,
				"holds too many files to be looked through for what must be hidden; share directories in it instead, with --share")
		}
	}
	return nil
}

// listed reports whether the directory above knows this one, which may have been
// replaced meanwhile.
func (t *tree) listed(dir string) bool {
	if dir == "." {
		return true
	}
	above := t.nodes[path.Dir(dir)]
	if above == nil {
		return false
	}
	_, listed := slices.BinarySearch(above.children, path.Base(dir))
	return listed
}

// put remembers a directory, forgets those that are not in it any more, and
// returns the paths of those that are not known.
func (t *tree) put(n *node, entries *int) (unknown []string) {
	*entries += n.entries
	if old := t.nodes[n.path]; old != nil {
		*entries -= old.entries
		for _, child := range old.children {
			if _, stays := slices.BinarySearch(n.children, child); !stays {
				*entries -= t.drop(path.Join(n.path, child))
			}
		}
	}
	t.nodes[n.path] = n
	for _, child := range n.children {
		if below := path.Join(n.path, child); t.nodes[below] == nil {
			unknown = append(unknown, below)
		}
	}
	return unknown
}

// drop forgets a directory with all below, and returns how many entries they
// had.
func (t *tree) drop(dir string) (entries int) {
	n := t.nodes[dir]
	if n == nil {
		return 0
	}
	delete(t.nodes, dir)
	entries = n.entries
	for _, child := range n.children {
		entries += t.drop(path.Join(dir, child))
	}
	return entries
}

// read looks at one directory. It returns nil where there is none.
func (t *tree) read(ctx context.Context, top *os.File, dir string, limit int) *node {
	if ctx.Err() != nil {
		return nil
	}
	now := time.Now()
	n := &node{path: dir}
	file, err := openBelow(top, dir, unix.O_DIRECTORY)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return nil
	case errors.Is(err, unix.EXDEV):
		n.closed = "is another file system's, which has to be shared by itself"
	default:
		n.closed = "cannot be read, so that nobody knows what must be hidden in it"
	}
	if n.closed != "" {
		n.stamp, err = stampAt(int(top.Fd()), dir)
		n.settled = err == nil && n.stamp.settled(now, t.settle)
		return n
	}
	defer file.Close()
	n.stamp, err = stampAt(int(file.Fd()), "")
	n.settled = err == nil && n.stamp.settled(now, t.settle)
	if err := t.list(ctx, n, file, limit); err != nil {
		*n = node{path: dir, stamp: n.stamp, closed: "cannot be read, so that nobody knows what must be hidden in it"}
	}
	slices.Sort(n.children)
	slices.SortFunc(n.masks, func(a, b mask) int { return strings.Compare(a.name, b.name) })
	return n
}

// list reads the entries of a directory.
func (t *tree) list(ctx context.Context, n *node, file *os.File, limit int) error {
	// What git takes for a repository has a HEAD and a store, whatever it is called;
	// one that is damaged is still called .git, and keeps credentials.
	named := strings.EqualFold(path.Base(n.path), ".git")
	var head, store bool
	var config []mask
	for n.entries <= limit && ctx.Err() == nil {
		entries, err := file.ReadDir(readBatch)
		for _, entry := range entries {
			n.entries++
			name := entry.Name()
			switch {
			case strings.EqualFold(name, "HEAD"):
				head = true
			case strings.EqualFold(name, "objects"), strings.EqualFold(name, "commondir"):
				store = true
			case !entry.IsDir() && (strings.EqualFold(name, "config") || strings.EqualFold(name, "config.worktree")):
				config = append(config, mask{name: name, config: true})
			}
			t.judge(n, entry)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if named || head && store {
		config = slices.DeleteFunc(config, func(c mask) bool {
			return slices.ContainsFunc(n.masks, func(m mask) bool { return m.name == c.name })
		})
		n.masks = append(n.masks, config...)
	}
	return nil
}

// judge remembers an entry that is masked, or to be looked into.
func (t *tree) judge(n *node, entry fs.DirEntry) {
	name := entry.Name()
	below := path.Join(n.path, name)
	if reason, hidden := t.options.Hidden(below); hidden {
		n.masks = append(n.masks, mask{name: name, reason: reason})
		return
	}
	if !entry.IsDir() {
		return
	}
	if len(below) > maxPathBytes {
		n.masks = append(n.masks, mask{name: name, reason: "lies too deep to be looked into"})
		return
	}
	n.children = append(n.children, name)
}
