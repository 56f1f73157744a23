package layers

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// scanner looks at what programs left in a copy.
type scanner struct {
	entries int // that there may still be
	// names counts those of each file with more than one.
	names map[uint64]int
	lost  Lost
}

// scan returns what is in an open directory. Directories that keep their owner
// out are opened to him.
func (s *scanner) scan(d dir, depth int) (map[string]*node, error) {
	names, err := d.names(s.entries)
	if err != nil {
		return nil, err
	}
	if s.entries -= len(names); s.entries < 0 {
		return nil, fmt.Errorf("%w: more than %d files and directories", ErrTooLarge, maxStored)
	}
	children := make(map[string]*node, len(names))
	for _, name := range names {
		stat, err := d.stat(name)
		if err != nil {
			return nil, err
		}
		n := &node{to: stampOf(&stat), stale: true}
		switch n.to.kind() {
		case unix.S_IFDIR:
			if err := s.below(d, name, n, depth); err != nil {
				return nil, err
			}
		case unix.S_IFREG:
			if stat.Nlink > 1 {
				s.names[stat.Ino]++
			}
		case unix.S_IFLNK:
		default:
			s.lost.Special++
			continue
		}
		children[name] = n
	}
	return children, nil
}

// below scans a directory. What is too deep is lost, and so is what cannot be
// read, as where it is another user's.
func (s *scanner) below(d dir, name string, n *node, depth int) (err error) {
	opened, _, err := d.openUnlocked(name)
	if err != nil || depth == MaxDepth {
		opened.close()
		s.lost.Unstored++
		n.unread = true
		return nil
	}
	defer opened.close()
	n.children, err = s.scan(opened, depth+1)
	return err
}
