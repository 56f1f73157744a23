package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/catalog/internal/index"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/internal/privatefile"
)

// What the indexes of all roots may take on disk. The newest stay.
const (
	maxIndexes    = 32
	maxIndexBytes = 64 << 20
)

// indexName matches the names of indexes, those that were not written to their end
// too.
var indexName = lazyregexp.New(`^[0-9a-f]{64}(\..*)?$`)

// indexes are those of a catalog's roots. What they say of a directory or an entry
// document holds where that is in the state in which it was read, which is found
// out by the scan that follows; a skill of which more is wanted than a line in a
// list is read all the same.
type indexes struct {
	catalog *Catalog
	program filestat.State // of the file that runs: others may read otherwise
}

// openIndex returns the indexes, or nil where there can be none.
func (c *Catalog) openIndex() *indexes {
	if c.options.Index == "" {
		return nil
	}
	file, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || !filestat.Of(info).Known() {
		return nil
	}
	return &indexes{catalog: c, program: filestat.Of(info)}
}

// indexFile is where the index of a root is, and what it has to be of.
type indexFile struct {
	privatefile.File
	real, key string
}

func (x *indexes) file(i int) (indexFile, error) {
	root := x.catalog.options.Roots[i]
	real, err := filepath.EvalSymlinks(root.Path)
	if err != nil {
		return indexFile{}, err
	}
	of := fmt.Sprintf("%q %v %v", root.Path, root.Pack, x.catalog.options.mode())
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(of)))
	file := privatefile.File{Dir: x.catalog.options.Index, Name: name, MaxBytes: index.MaxBytes}
	return indexFile{file, real, fmt.Sprintf("%s %q %v", of, real, x.program)}, nil
}

// recall returns the nodes of the roots as the indexes have them.
func (x *indexes) recall() []*node {
	tops := make([]*node, len(x.catalog.options.Roots))
	var reading errgroup.Group
	for i, root := range x.catalog.options.Roots {
		reading.Go(func() error {
			top, err := x.read(i)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				x.catalog.log.Debug("the index of a root is of no use, and made again", "root", root.Path, "reason", err)
			}
			tops[i] = top
			return nil
		})
	}
	_ = reading.Wait()
	return tops
}

func (x *indexes) read(i int) (*node, error) {
	kept, err := x.file(i)
	if err != nil {
		return nil, err
	}
	data, err := kept.Text()
	if err != nil {
		return nil, err
	}
	if x.secret(data) { // which was not known when it was written
		return nil, errors.Join(errSecret, os.Remove(kept.Path()))
	}
	read, err := index.Decode(data, kept.key, time.Now())
	if err != nil {
		return nil, err
	}
	r := recaller{walker: x.catalog.walker(context.Background(), nil), when: time.Unix(0, read.Written)}
	path := x.catalog.options.Roots[i].Path
	return r.node(location{path: path, real: kept.real, shown: path, root: i}, &read.Root), nil
}

// keep writes the indexes of roots of which more was read than they say.
func (x *indexes) keep() {
	for i, root := range x.catalog.options.Roots {
		encoded, err := x.encode(i)
		if encoded == nil && err == nil {
			continue
		}
		if err == nil {
			err = x.write(i, encoded)
		}
		x.catalog.log.Debug("an index was to be kept", "root", root.Path, "bytes", len(encoded), "error", err)
	}
}

func (x *indexes) write(i int, encoded []byte) error {
	to, err := x.file(i)
	if err != nil {
		return err
	}
	if err := to.Replace(encoded); err != nil {
		return err
	}
	x.prune()
	return nil
}

// encode returns the index of a root, or nothing where there is none to write.
func (x *indexes) encode(i int) ([]byte, error) {
	c := x.catalog
	if err := c.acquire(context.Background()); err != nil {
		return nil, err
	}
	defer c.release()
	if c.state.tops == nil || c.state.tops[i] == nil || !c.state.tops[i].unkept() {
		return nil, nil
	}
	of, err := x.file(i)
	if err != nil {
		return nil, err
	}
	kept := index.Index{Key: of.key, Written: time.Now().UnixNano(), Root: c.state.tops[i].record()}
	kept.Root.Name, kept.Root.Target = "", ""
	encoded := kept.Encode()
	if len(encoded) > index.MaxBytes {
		return nil, fmt.Errorf("%d bytes: %w", len(encoded), privatefile.ErrTooLong)
	}
	if x.secret(string(encoded)) {
		return nil, errSecret
	}
	return encoded, nil
}

var errSecret = errors.New("it holds a secret of the user's")

func (x *indexes) secret(encoded string) bool {
	return x.catalog.options.Secret != nil && x.catalog.options.Secret(encoded)
}

// prune removes the oldest indexes, where there are too many of roots that nobody
// has any more.
func (x *indexes) prune() {
	entries, err := os.ReadDir(x.catalog.options.Index)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && indexName().MatchString(entry.Name()) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for i, size := 0, int64(0); i < len(files); i++ {
		if size += files[i].Size(); i >= maxIndexes || size > maxIndexBytes {
			_ = os.Remove(filepath.Join(x.catalog.options.Index, files[i].Name()))
		}
	}
}
