package resources

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// Digests remembers the SHA-256 of files, so that what did not change is not
// read again. A file is known again by device, inode, size and the times of
// its last write and last change of status, in nanoseconds. Where the system
// does not have all of these (Windows), every file is read every time.
//
// The zero value is ready to use. It is safe for concurrent use and must not be
// copied.
type Digests struct {
	mu    sync.Mutex
	files map[filestat.ID]stateSum
	// max replaces maxDigests where it is not zero; if it is negative, nothing
	// is remembered.
	max int
}

// maxDigests is how many files are remembered, at about 150 bytes each: those
// of 128 skills of the largest size, or of some thousand usual ones.
const maxDigests = 1 << 16

// stateSum is the digest of a file as it was in one state.
type stateSum struct {
	state filestat.State
	sum   [sha256.Size]byte
}

// maxAttempts is how often a file is hashed that changes meanwhile.
const maxAttempts = 3

// sum returns the digest and the size of a file that was found with info. The
// error is a [*contained.Error], which is [contained.ErrChanged] where the file
// changed each time.
func (d *Digests) sum(dir *contained.Dir, file string, info fs.FileInfo) (sum [sha256.Size]byte, size int64, err error) {
	if sum, ok := d.lookup(filestat.Of(info)); ok {
		return sum, info.Size(), nil
	}
	for range maxAttempts {
		start, hash := time.Now(), sha256.New()
		// One byte over the limit of a whole skill shows that it is over.
		info, size, err = dir.Copy(hash, file, maxSkillBytes+1)
		hash.Sum(sum[:0])
		switch {
		case err == nil:
			d.remember(info, sum, size, start)
			return sum, size, nil
		case size > maxSkillBytes:
			return sum, size, nil
		case !errors.Is(err, contained.ErrChanged):
			return sum, 0, err
		}
	}
	e := contained.Refuse(contained.Unreadable, file, "changes while it is read")
	e.Hint, e.Err = "Ask again when nothing writes to the file any more.", contained.ErrChanged
	return sum, 0, e
}

func (d *Digests) lookup(now filestat.State) (sum [sha256.Size]byte, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.files[now.ID]
	return known.sum, ok && known.state == now
}

// remember keeps the digest of a file that was last changed long enough
// before the reading started.
func (d *Digests) remember(info fs.FileInfo, sum [sha256.Size]byte, size int64, start time.Time) {
	now := filestat.Of(info)
	if !now.Known() || now.Size != size || !now.Settled(start) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	limit := cmp.Or(d.max, maxDigests)
	if d.files == nil {
		d.files = make(map[filestat.ID]stateSum)
	}
	if _, known := d.files[now.ID]; !known && len(d.files) >= limit {
		// Which one goes does not matter: it only costs a reading.
		for other := range d.files {
			delete(d.files, other)
			break
		}
	}
	if limit > 0 {
		d.files[now.ID] = stateSum{now, sum}
	}
}
