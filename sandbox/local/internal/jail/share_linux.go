//go:build amd64 || arm64

package jail

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// stagedChanges is the name of [Share.Changes] on the stage, where the layers have
// numbers: their own names may have bytes that stand for something in the options
// of an overlay.
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

// attachShares puts an overlay of the directories of each share in its place. They
// stay on a stage until that is gone with the old root: to unmount them before
// takes longer than all the rest.
func (b *builder) attachShares(layers [][]int, shares []Share) error {
	if len(shares) == 0 {
		return nil
	}
	if err := mountTmpfs(newStage, rootBytes, "755"); err != nil {
		return failed("mount the stage", err)
	}
	stage, err := openMounted(newStage)
	if err != nil {
		return failed("open the stage", err)
	}
	defer unix.Close(stage)
	for i := range shares {
		if err := b.attachShare(stage, i, layers[i], &shares[i]); err != nil {
			return failed(ShareStep(i), err)
		}
	}
	return nil
}

// attachShare puts the share of that number in its place.
func (b *builder) attachShare(stage, number int, sources []int, share *Share) error {
	own, err := openNew(stage, "share"+strconv.Itoa(number))
	if err != nil {
		return err
	}
	defer unix.Close(own)
	for i, source := range sources {
		target, err := openNew(own, share.staged(i))
		if err == nil {
			err = unix.MoveMount(source, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
			unix.Close(target)
		}
		unix.Close(source)
		if err != nil {
			return err
		}
	}
	overlay, err := b.overlay(own, share.options())
	if err != nil {
		return err
	}
	return b.attach(overlay, Mount{Target: share.Target, Dir: true})
}

// openNew makes a directory and opens it.
func openNew(dir int, name string) (int, error) {
	if err := unix.Mkdirat(dir, name, 0o700); err != nil {
		return -1, err
	}
	return unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// unmountShares takes the shares away that can be changed, when no process of the
// program is left: who has the changes next finds nothing that uses them.
func unmountShares(shares []Share) {
	for i := range shares {
		if shares[i].Changes != nil {
			unix.Unmount(shares[i].Target, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		}
	}
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
		options.lower += ":" + newRoot + "/" + empty
	}
	return options
}
