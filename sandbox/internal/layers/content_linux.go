package layers

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// copier copies the content of files.
type copier struct{ cannotClone bool }

// copy makes a new file hold the first size bytes of another, by what costs
// least. Holes stay holes.
func (c *copier) copy(to, from *os.File, stat *unix.Stat_t) error {
	if stat.Size == 0 {
		return nil
	}
	if !c.cannotClone {
		if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil {
			return to.Truncate(stat.Size) // it may have grown
		}
		c.cannotClone = true
	}
	if stat.Blocks*512 >= stat.Size {
		_, err := io.CopyN(to, from, stat.Size)
		return ignoreEOF(err)
	}
	for at := int64(0); at < stat.Size; {
		begin, end := filestat.NextData(from, at, stat.Size)
		if err := copyPart(to, from, begin, end); err != nil {
			return err
		}
		at = end
	}
	return to.Truncate(stat.Size)
}

func copyPart(to, from *os.File, begin, end int64) error {
	if begin == end {
		return nil
	}
	_, err := from.Seek(begin, io.SeekStart)
	if err == nil {
		_, err = to.Seek(begin, io.SeekStart)
	}
	if err == nil {
		_, err = io.CopyN(to, from, end-begin)
	}
	return ignoreEOF(err)
}

// ignoreEOF passes over a file that is shorter now.
func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// equal reports whether two files hold the same.
func equal(a, b *os.File) (bool, error) {
	const chunk = 64 << 10
	inA, inB := make([]byte, chunk), make([]byte, chunk)
	for at := int64(0); ; at += chunk {
		n, err := a.ReadAt(inA, at)
		if err != nil && err != io.EOF {
			return false, err
		}
		m, errB := b.ReadAt(inB, at)
		if errB != nil && errB != io.EOF {
			return false, errB
		}
		if string(inA[:n]) != string(inB[:m]) {
			return false, nil
		}
		if n < chunk {
			return true, nil
		}
	}
}
