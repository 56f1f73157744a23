package layers

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stack are the directories that make up one of a share: one for each layer, the
// uppermost first, or noDir where a layer has none.
type stack []dir

// openStack opens the layers of a share, below its upper directory if that is not
// empty. Layers are not reached by links: what one leads to was not chosen.
func openStack(upper string, layers []string) (s stack, err error) {
	if upper != "" {
		d, err := openDir(upper)
		if err != nil {
			return nil, err
		}
		s = append(s, d)
	}
	for _, layer := range layers {
		d, err := openReal(filepath.Clean(layer))
		if err != nil {
			s.close()
			return nil, err
		}
		s = append(s, d)
	}
	return s, nil
}

func (s stack) close() {
	for _, d := range s {
		d.close()
	}
}

// open opens the directories of a name in some of the layers, and returns those
// of them that it can: none below an opaque one.
func (s stack) open(name string, layers []int) (below stack, opened []int, err error) {
	below = make(stack, len(s))
	for i := range below {
		below[i] = noDir
	}
	for _, i := range layers {
		d, openErr := s[i].open(name)
		if openErr != nil {
			err = openErr
			continue
		}
		below[i] = d
		opened = append(opened, i)
		if d.opaque() {
			break
		}
	}
	return below, opened, err
}

// surveyor finds out what programs are to see of a share.
type surveyor struct {
	ctx     context.Context
	devices []uint64 // of the layers
	entries int      // that there may still be
	bytes   int64    // that they may still have
	names   int      // that may still be read, whiteouts included
	options Options
	omitted int
}

// survey returns what is in the directories of a stack.
func (s *surveyor) survey(at stack, depth int) (map[string]*node, error) {
	children := make(map[string]*node)
	hidden := make(map[string]bool) // from the layers below
	for layer, d := range at {
		if d == noDir {
			continue
		}
		names, err := d.names(s.names)
		if err != nil && !isGone(err) {
			return nil, err
		}
		if s.names -= len(names); s.names < 0 {
			return nil, fmt.Errorf("%w: more than %d names", ErrTooLarge, maxStored)
		}
		for _, name := range names {
			if err := s.look(d, layer, name, children, hidden); err != nil {
				return nil, err
			}
		}
	}
	for name, n := range children {
		if !n.from.isDir() {
			continue
		}
		if err := s.descend(at, name, children, depth); err != nil {
			return nil, err
		}
	}
	return children, nil
}

// look adds what one layer has of a name.
func (s *surveyor) look(d dir, layer int, name string, children map[string]*node, hidden map[string]bool) error {
	if hidden[name] {
		return nil
	}
	stat, err := d.stat(name)
	if err != nil {
		return nil // it has gone, or cannot be looked at; then nothing in it can
	}
	n, known := children[name]
	switch kind := stat.Mode & unix.S_IFMT; {
	case kind == unix.S_IFDIR && known:
		n.layers = append(n.layers, layer)
		return nil
	case kind == unix.S_IFDIR:
		// Those below belong to it.
	case kind == unix.S_IFREG || kind == unix.S_IFLNK:
		hidden[name] = true
	case isWhiteout(&stat):
		hidden[name] = true
		return nil
	default:
		hidden[name] = true
		if !known {
			s.omitted++
		}
		return nil
	}
	if known {
		return nil // a file below a directory
	}
	children[name] = &node{layers: []int{layer}, from: stampOf(&stat)}
	return s.count(&stat)
}

// count holds what there is to the bounds.
func (s *surveyor) count(stat *unix.Stat_t) error {
	if s.entries--; s.entries < 0 {
		return fmt.Errorf("%w: more than %d files and directories", ErrTooLarge, s.options.Entries)
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFREG {
		if s.bytes -= stat.Size; s.bytes < 0 {
			return fmt.Errorf("%w: files of more than %d bytes", ErrTooLarge, s.options.Bytes)
		}
	}
	return s.ctx.Err()
}

// descend surveys a directory that was found, or leaves it out where it cannot
// be read or is on another file system.
func (s *surveyor) descend(at stack, name string, children map[string]*node, depth int) error {
	n := children[name]
	below, opened, err := at.open(name, n.layers)
	defer below.close()
	for _, layer := range opened {
		stat, statErr := below[layer].self()
		if statErr != nil || stat.Dev != s.devices[layer] {
			err = unix.EXDEV
		}
	}
	if err != nil {
		delete(children, name)
		if !isGone(err) {
			s.omitted++
		}
		return nil
	}
	if depth == MaxDepth {
		return fmt.Errorf("%w: more than %d directories deep", ErrTooLarge, MaxDepth)
	}
	n.layers = opened
	n.children, err = s.survey(below, depth+1)
	return err
}
