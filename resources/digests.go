package resources

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Digests remembers the SHA-256 of files, so that what did not change is not
// read again. A file is known again by device, inode, size and the times of
// its last write and last change of status, in nanoseconds. Where the system
// does not give all of these (Windows), every file is read every time.
//
// The zero value remembers [DefaultDigests] files. It is safe for concurrent
// use and must not be copied.
type Digests struct {
	// Max is how many files are remembered, at about 150 bytes each. If zero,
	// defaults to [DefaultDigests]; if negative, nothing is remembered. It
	// must not change once in use.
	Max int

	mu    sync.Mutex
	files map[inode]stampedSum
}

// DefaultDigests is how many files a Digests remembers: those of 128 skills
// of the largest size, or of some thousand usual ones.
const DefaultDigests = 1 << 16

// inode says which file it is, stamp whether it is as it was.
type (
	inode struct{ device, number uint64 }
	stamp struct{ size, modified, changed int64 }
)

type stampedSum struct {
	stamp stamp
	sum   [sha256.Size]byte
}

// settled is how old the last change of a file must be for its digest to be
// remembered. Within the grain of the clock by which a file system stamps, a
// file can change twice and look the same; 2 s is the coarsest in use (FAT).
const settled = 2 * time.Second

// maxAttempts is how often a file is hashed that changes meanwhile.
const maxAttempts = 3

// sum gives the digest and the size of a file that was found with info.
func (d *Digests) sum(t *Tree, clean string, info fs.FileInfo) (sum [sha256.Size]byte, size int64, err error) {
	if id, now, ok := identify(info); ok {
		if sum, ok := d.lookup(id, now); ok {
			return sum, now.size, nil
		}
	}
	for range maxAttempts {
		var steady bool
		sum, size, steady, err = d.hash(t, clean)
		if err != nil || steady {
			return sum, size, err
		}
	}
	return sum, 0, refuse(Unreadable, clean, "changes while it is read")
}

// hash reads the file. steady tells that it did not change meanwhile.
func (d *Digests) hash(t *Tree, clean string) (sum [sha256.Size]byte, size int64, steady bool, err error) {
	file, before, err := t.open(clean, clean)
	if err != nil {
		return sum, 0, false, err
	}
	defer file.Close()
	start := time.Now()
	hash := sha256.New()
	// One byte over the limit of a whole skill tells that it is over.
	size, err = io.Copy(hash, io.LimitReader(file, MaxSkillBytes+1))
	if err != nil {
		return sum, 0, false, t.refusal(clean, err)
	}
	hash.Sum(sum[:0])
	after, err := file.Stat()
	if err != nil {
		return sum, 0, false, t.refusal(clean, err)
	}
	if size > MaxSkillBytes {
		return sum, size, true, nil
	}
	if !sameStamp(before, after) {
		return sum, size, false, nil
	}
	d.remember(after, sum, size, start)
	return sum, size, true, nil
}

// sameStamp tells whether a file is as it was, as far as the system tells.
func sameStamp(before, after os.FileInfo) bool {
	_, a, ok := identify(before)
	_, b, _ := identify(after)
	if ok {
		return a == b
	}
	return before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}

func (d *Digests) lookup(id inode, now stamp) (sum [sha256.Size]byte, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.files[id]
	return known.sum, ok && known.stamp == now
}

// remember keeps the digest of a file that was last changed long enough
// before the reading started.
func (d *Digests) remember(info fs.FileInfo, sum [sha256.Size]byte, size int64, start time.Time) {
	id, now, ok := identify(info)
	if !ok || now.size != size {
		return
	}
	if edge := start.Add(-settled).UnixNano(); now.modified > edge || now.changed > edge {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	limit := d.Max
	if limit == 0 {
		limit = DefaultDigests
	}
	if d.files == nil {
		d.files = make(map[inode]stampedSum)
	}
	if _, known := d.files[id]; !known && len(d.files) >= limit {
		// Which one goes does not matter: it only costs a reading.
		for other := range d.files {
			delete(d.files, other)
			break
		}
	}
	if limit > 0 {
		d.files[id] = stampedSum{stamp: now, sum: sum}
	}
}
