package watch

import (
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// maxCompared bounds the size of a file whose content is compared, in
// bytes. A larger one is reported whenever it was written.
const maxCompared = 1 << 20

// fingerprint is what is known of a file, or that there is a directory.
type fingerprint struct {
	state    filestat.State
	dir      bool
	settled  bool   // an equal state proves an equal content
	compared bool   // sum is that of the content
	sum      uint64 // seeded, so that no two contents can be made to have one sum
}

// differs reports whether a file changed.
func (now fingerprint) differs(was fingerprint) bool {
	switch {
	case now.dir || was.dir:
		return now.dir != was.dir
	case now.state == was.state && was.settled:
		return false
	case now.compared && was.compared:
		return now.sum != was.sum
	}
	return now.state != was.state
}

// fingerprint returns what stands at a path, where was is what is known of it.
func (f *Files) fingerprint(path string, info fs.FileInfo, was fingerprint, known bool) fingerprint {
	if info.IsDir() {
		return fingerprint{dir: true}
	}
	now := fingerprint{state: filestat.Of(info)}
	if known && was.settled && was.state == now.state {
		return was
	}
	now.settled = now.state.Settled(time.Now())
	if !info.Mode().IsRegular() || info.Size() > maxCompared {
		return now
	}
	if !known {
		if f.budget < info.Size() {
			return now
		}
		f.budget -= info.Size()
	}
	now.sum, now.compared = f.sum(path)
	return now
}

// sum reads a file of at most [maxCompared] bytes.
func (f *Files) sum(path string) (sum uint64, ok bool) {
	file, err := os.OpenFile(path, os.O_RDONLY|openflag.NonBlock|openflag.NoFollow, 0)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	var hash maphash.Hash
	hash.SetSeed(f.seed)
	size, err := io.CopyBuffer(&hash, io.LimitReader(file, maxCompared+1), f.buffer)
	return hash.Sum64(), err == nil && size <= maxCompared
}
