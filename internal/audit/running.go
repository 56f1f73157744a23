package audit

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// running is the directory of what was begun and has not ended: a file for each,
// SERVER-ID.json, which holds its line as it is to be if no end is recorded. A
// process that has such files holds the lock of SERVER.lock, so that others see
// whether it lives. It is used with the log's lock held.
type running struct {
	dir    string
	server string
	lock   *flock.Flock // nil before the first
}

const (
	runningExt = ".json"
	aliveExt   = ".lock"
)

// add writes the line of what begins.
func (r *running) add(id string, line []byte) error {
	if err := r.live(); err != nil {
		return err
	}
	path := r.path(id)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// remove removes what has ended. It may be gone, with the directory.
func (r *running) remove(id string) error {
	if err := os.Remove(r.path(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *running) path(id string) string {
	return filepath.Join(r.dir, r.server+"-"+id+runningExt)
}

// live takes the lock by which others know that this process lives, and again
// where somebody removed the directory.
func (r *running) live() error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	if err := checkOwn(r.dir, fs.ModeDir); err != nil {
		return err
	}
	if r.lock != nil && r.inPlace() {
		return nil
	}
	if err := r.close(); err != nil {
		return err
	}
	lock := aliveLock(filepath.Join(r.dir, r.server+aliveExt), os.O_CREATE)
	if locked, err := lock.TryLock(); err != nil || !locked {
		return errors.Join(err, errBusy)
	}
	r.lock = lock
	return nil
}

// inPlace reports whether the file that is locked is the one that others find.
func (r *running) inPlace() bool {
	found, err := os.Lstat(r.lock.Path())
	if err != nil {
		return false
	}
	locked, err := r.lock.Stat()
	return err == nil && os.SameFile(found, locked)
}

// close releases the lock. Where something is left that did not end, its file
// stays for others to find.
func (r *running) close() error {
	if r.lock == nil {
		return nil
	}
	err := r.lock.Close()
	r.lock = nil
	left, globErr := filepath.Glob(filepath.Join(r.dir, r.server+"-*"+runningExt))
	if globErr == nil && len(left) == 0 {
		_ = os.Remove(filepath.Join(r.dir, r.server+aliveExt)) // an empty file
	}
	return err
}

func aliveLock(path string, flags int) *flock.Flock {
	return flock.New(path, flock.SetFlag(flags|os.O_RDWR|openflag.NoFollow|openflag.NonBlock), flock.SetPermissions(0o600))
}

// recover writes the lines of what processes began that live no more, the log
// being locked.
func (l *Log) recover() error {
	entries, err := os.ReadDir(l.running.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := checkOwn(l.running.dir, fs.ModeDir); err != nil {
		return err
	}
	dead := map[string]bool{}
	for _, entry := range entries {
		server, _, isLine := strings.Cut(strings.TrimSuffix(entry.Name(), runningExt), "-")
		if !isLine {
			continue
		}
		if _, known := dead[server]; !known {
			dead[server] = l.running.dead(server)
		}
		if !dead[server] {
			continue
		}
		if err := l.recoverLine(filepath.Join(l.running.dir, entry.Name())); err != nil {
			return err
		}
	}
	for _, entry := range entries {
		server, isLock := strings.CutSuffix(entry.Name(), aliveExt)
		if isLock && (dead[server] || l.running.dead(server)) {
			_ = os.Remove(filepath.Join(l.running.dir, entry.Name())) // an empty file
		}
	}
	return nil
}

// dead reports whether the process of that name lives no more.
func (r *running) dead(server string) bool {
	if server == r.server {
		return false
	}
	lock := aliveLock(filepath.Join(r.dir, server+aliveExt), 0)
	locked, err := lock.TryLock()
	if locked {
		_ = lock.Close()
	}
	return locked || errors.Is(err, fs.ErrNotExist)
}

// recoverLine moves a line to the log. One that is not whole was never begun.
func (l *Log) recoverLine(path string) error {
	line, err := readRegular(path, maxLineBytes)
	if err != nil {
		return err
	}
	if bytes.HasSuffix(line, []byte("\n")) {
		if err := l.append(line); err != nil {
			return err
		}
	}
	return os.Remove(path)
}

// readRegular reads at most limit bytes of a regular file of ours.
func readRegular(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock|openflag.NoTerminal, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil {
		err = checkInfo(path, info, 0)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
