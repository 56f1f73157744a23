package layers

import (
	"os"

	"golang.org/x/sys/unix"
)

// spot is a directory of a share in all the places that it is in, while what
// changed in it is stored.
type spot struct {
	above *spot // nil at the top
	name  string
	now   *node
	copy  dir
	// upper is the directory of upper; noDir where there is none yet. opaque
	// reports that it hides what is below it, and touched that it was changed.
	upper           dir
	opaque, touched bool
	// lower are the directories below it, the uppermost first, once they are
	// listed.
	lower  []dir
	listed bool
}

func (at *spot) close() {
	at.copy.close()
	at.upper.close()
	stack(at.lower).close()
}

// openUpper opens the directory of upper, if there is one.
func (at *spot) openUpper() error {
	if at.above.upper == noDir {
		return nil
	}
	opened, unlocked, err := at.above.upper.openUnlocked(at.name)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	at.upper, at.opaque, at.touched = opened, opened.opaque(), unlocked
	return nil
}

// lowers returns the directories below that of upper.
func (at *spot) lowers() []dir {
	if at.listed {
		return at.lower
	}
	at.listed = true
	if at.opaque {
		return nil
	}
	for _, d := range at.above.lowers() {
		stat, err := d.stat(at.name)
		if err == unix.ENOENT {
			continue
		}
		if err != nil || stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			break
		}
		below, err := d.open(at.name)
		if err != nil {
			break
		}
		if at.lower = append(at.lower, below); below.opaque() {
			break
		}
	}
	return at.lower
}

// lowerEntry returns what a name is below upper, and in which directory.
func (at *spot) lowerEntry(name string) (d dir, stat unix.Stat_t, visible bool) {
	for _, d := range at.lowers() {
		stat, err := d.stat(name)
		if err == unix.ENOENT {
			continue
		}
		return d, stat, err == nil && !isWhiteout(&stat)
	}
	return noDir, unix.Stat_t{}, false
}

// isLowersAgain reports whether a file is what the user has of that name, and
// that this is news: where it always was so, its time alone is new.
func (at *spot) isLowersAgain(name string, now *node, file *os.File) (bool, error) {
	d, stat, visible := at.lowerEntry(name)
	if !visible {
		return false, nil
	}
	same, err := holds(d, name, now.to, file)
	if err != nil || !same || stat.Mtim.Nano() == now.to.mtime {
		return same, err
	}
	if at.upper == noDir {
		return false, nil
	}
	if _, err := at.upper.stat(name); err != nil {
		return false, nil
	}
	same, err = holds(at.upper, name, now.to, file)
	return !same, err
}

// holds reports whether a directory has a file with the content and permissions
// of another one.
func holds(d dir, name string, like stamp, file *os.File) (bool, error) {
	other, stat, err := d.file(name)
	if err != nil {
		return false, nil
	}
	defer other.Close()
	if is := stampOf(&stat); is.permissions() != like.permissions() || is.size != like.size {
		return false, nil
	}
	return equal(file, other)
}

// isLowers reports whether an empty directory of upper would say nothing.
func (at *spot) isLowers() bool {
	lower := at.lowers()
	if at.opaque || len(lower) == 0 {
		return false
	}
	stat, err := lower[0].self()
	return err == nil && stampOf(&stat).permissions() == at.now.to.permissions()
}
