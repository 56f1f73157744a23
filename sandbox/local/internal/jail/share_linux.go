//go:build amd64 || arm64

package jail

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// stage is a directory of the root in which the layers of a share are for as long
// as an overlay of them is being made. There they have plain names: their own may
// have bytes that stand for something in the options of an overlay.
const stage = ".stage"

// stagedChanges is the name of [Share.Changes] there; the layers have numbers.
const stagedChanges = "changes"

// The directories of an overlay in [Share.Changes].
const (
	upperDir = "upper"
	workDir  = "work"
)

// ShareStep is the step at which a jail fails that cannot show the share of that
// number.
func ShareStep(number int) string { return "show share " + strconv.Itoa(number) }

// layers returns the directories of a share in the order in which they are
// staged.
func (s *Share) layers() []Mount {
	if s.Changes == nil {
		return s.Layers
	}
	return append(s.Layers[:len(s.Layers):len(s.Layers)], *s.Changes)
}

// openShares returns the detached mounts of the directories of each share.
func openShares(shares []Share, files []int) ([][]int, error) {
	sources := make([][]int, len(shares))
	for i := range shares {
		var err error
		if sources[i], err = open(shares[i].layers(), files); err != nil {
			return nil, failed(ShareStep(i), err)
		}
	}
	return sources, nil
}

// attachShare puts an overlay of the directories of a share in its place.
func (b *builder) attachShare(sources []int, share *Share) error {
	for i, source := range sources {
		if err := b.attach(source, Mount{Target: "/" + stage + "/" + share.staged(i), Dir: true}); err != nil {
			return err
		}
	}
	overlay, err := b.overlay(stage, share.options())
	if err != nil {
		return err
	}
	for i := range sources { // the overlay has its own mounts of them
		if err := b.remove(stage + "/" + share.staged(i)); err != nil {
			return err
		}
	}
	return b.attach(overlay, Mount{Target: share.Target, Dir: true})
}

// remove unmounts a directory of the root, and removes it.
func (b *builder) remove(name string) error {
	if err := unix.Unmount(name, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil { // the root is the working directory
		return err
	}
	return unix.Unlinkat(b.root, name, unix.AT_REMOVEDIR)
}

// staged is the name of the directory of that number where it is staged.
func (s *Share) staged(number int) string {
	if number == len(s.Layers) {
		return stagedChanges
	}
	return strconv.Itoa(number)
}

// options returns those of the overlay of a share, by the names of its
// directories where they are staged.
func (s *Share) options() overlayOptions {
	options := overlayOptions{lower: "0"}
	for i := 1; i < len(s.Layers); i++ {
		options.lower += ":" + strconv.Itoa(i)
	}
	if s.Changes != nil {
		options.upper, options.work = stagedChanges+"/"+upperDir, stagedChanges+"/"+workDir
	} else if len(s.Layers) == 1 { // it wants two to read from
		options.lower += ":" + scaffold + "/" + empty
	}
	return options
}
