package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// maxFileBytes is the size of the largest file that is shared by itself.
const maxFileBytes = 256 << 20

// FileView shows some files of a directory, and nothing else in it: copies of
// them, since only a directory can be shown so that programs save a file as
// editors do, by a new one in its place. It may be used from many goroutines.
type FileView struct {
	source, dir string
	names       []string
	settle      time.Duration // how long after a change times may not tell the next

	mu      sync.Mutex
	states  []filestat.State
	settled bool // no other content can have these states
	number  int
	copies  generations
}

// NewFileView returns a view of the regular files with these names in dir. Base
// is as in [ViewOptions]. Nothing is copied before [FileView.Acquire].
func NewFileView(base, dir string, names []string) (*FileView, error) {
	own, err := os.MkdirTemp(base, "files-")
	if err != nil {
		return nil, err
	}
	return &FileView{source: dir, dir: own, names: names, settle: filestat.SettleTime}, nil
}

// Acquire copies the files where one has changed. A file that is gone is not
// shown. The error is that of ctx, a [*Refusal] with [RuleTooLarge] or
// [RuleUnreadable], or one of the system.
func (v *FileView) Acquire(ctx context.Context) (*Lease, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now, settled := time.Now(), true
	states := make([]filestat.State, len(v.names))
	for i, name := range v.names {
		if info, err := os.Lstat(filepath.Join(v.source, name)); err == nil {
			states[i] = filestat.Of(info)
			settled = settled && states[i].Known() && states[i].Settled(now.Add(filestat.SettleTime-v.settle))
		}
	}
	next := v.copies.current
	if next == nil || !v.settled || !slices.Equal(states, v.states) {
		var err error
		if next, err = v.copyAll(); err != nil {
			return nil, err
		}
		v.states, v.settled = states, settled
	}
	return &Lease{Layers: []string{next.dir}, release: v.copies.use(next)}, nil
}

func (v *FileView) copyAll() (*generation, error) {
	v.number++
	next := &generation{dir: filepath.Join(v.dir, strconv.Itoa(v.number))}
	err := os.Mkdir(next.dir, 0o700)
	for _, name := range v.names {
		if err == nil {
			err = v.copy(name, next.dir)
		}
	}
	if err == nil {
		err = likeDirectory(v.source, next.dir)
	}
	if err != nil {
		return nil, errors.Join(err, tempdir.Remove(next.dir))
	}
	return next, nil
}

// copy copies one file with its permissions, time and owner.
func (v *FileView) copy(name, to string) error {
	path := filepath.Join(v.source, name)
	file, err := os.OpenFile(path, os.O_RDONLY|openflag.NonBlock|openflag.NoFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return refuse(RuleUnreadable, path, "cannot be read by this user")
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return refuse(RuleNoDirectory, path, "is no regular file any more")
	case info.Size() > maxFileBytes:
		return refuse(RuleTooLarge, path, "is larger than 256 MiB; share its directory instead")
	}
	out, err := os.OpenFile(filepath.Join(to, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(file, maxFileBytes))
	err = errors.Join(err, chownLike(out, info), out.Chmod(info.Mode().Perm()), out.Close())
	if err != nil {
		return fmt.Errorf("copy a shared file: %w", err)
	}
	return os.Chtimes(out.Name(), info.ModTime(), info.ModTime())
}

// likeDirectory gives a directory the owner and the permissions of another.
func likeDirectory(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	dir, err := os.Open(to)
	if err != nil {
		return err
	}
	defer dir.Close()
	return errors.Join(chownLike(dir, info), dir.Chmod(info.Mode().Perm()))
}

// chownLike gives a file the owner of another, where this process may.
func chownLike(file *os.File, info fs.FileInfo) error {
	user, group, known := filestat.Owner(info)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	return file.Chown(user, group)
}

// Close removes the copies. All leases must have been released.
func (v *FileView) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.copies.close(v.dir)
}
