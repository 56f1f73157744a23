package catalog

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
// bytes. A larger one is told as changed whenever it was written.
const maxCompared = 1 << 20

// fingerprint is what is known of a file, or that there is a directory.
type fingerprint struct {
	filestat.State
	dir      bool
	settled  bool   // an equal state proves an equal content
	compared bool   // sum is that of the content
	sum      uint64 // seeded, so that nobody can make two contents of one sum
}

// fingerprint returns what stands at a path, where was is what is known of it.
func (f *files) fingerprint(path string, info fs.FileInfo, was fingerprint, known bool) fingerprint {
	if info.IsDir() {
		return fingerprint{dir: true}
	}
	now := fingerprint{State: filestat.Of(info)}
	if known && was.settled && was.State == now.State {
		return was
	}
	now.settled = now.Settled(time.Now())
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
func (f *files) sum(path string) (sum uint64, ok bool) {
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
	for total := 0; total <= maxCompared; {
		n, err := file.Read(f.buffer)
		hash.Write(f.buffer[:n]) // never fails
		if total += n; err != nil {
			return hash.Sum64(), err == io.EOF && total <= maxCompared
		}
	}
	return 0, false
}
