package staging

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/percent"
)

// edition is a directory that holds one version of each of many skills. It does not
// change once it was lent.
type edition struct {
	dir     string
	digest  string
	volumes map[string]*volume // by the skill's name

	// Copies has the lock of the rest.
	holders int
}

// volume is one skill of an edition.
type volume struct {
	version
	// of is the skill of which the entry document is a copy.
	of *catalog.Skill
	// glance is what it was made of, or nil, and files how many that are.
	glance *glance
	files  int
	// written is when something was last put into its directory, or taken out.
	written time.Time
}

// volume returns that of a skill if it still is where it was; nil editions have
// none.
func (e *edition) volume(skill *catalog.Skill) *volume {
	if e == nil || e.volumes[skill.Name] == nil {
		return nil
	}
	v := e.volumes[skill.Name]
	info, err := os.Lstat(v.dir)
	if err != nil || !info.ModTime().Equal(v.written) || v.source != skill.Dir {
		return nil
	}
	return v
}

// fits reports whether a volume is one of a skill as that was read.
func (v *volume) fits(skill *catalog.Skill) bool {
	return v.of == skill || skill.ReadFrom(v.dir)
}

func (c *Copies) lastEdition() *edition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// drop removes an edition that is not the newest and that nothing uses. The lock
// is held.
func (c *Copies) drop(e *edition) {
	if e != nil && e != c.shown && e.holders == 0 && c.ctx.Err() == nil {
		c.work.Go(func() { _ = tempdir.Remove(e.dir) }) // else Close does
	}
}

// edit returns an edition of what was seen: the newest, if that is one, and those
// that could not be copied.
func (c *Copies) edit(ctx context.Context, seen []sight) (_ *edition, leftOut []LeftOut, err error) {
	last := c.lastEdition()
	if last.isOf(seen) {
		return last, nil, nil
	}
	next := &edition{volumes: make(map[string]*volume)}
	if next.dir, err = c.newDir(); err != nil {
		return nil, nil, err
	}
	for i := range seen {
		if s := &seen[i]; s.reason == "" && s.as == nil {
			err = c.add(ctx, next, last, s)
			if s.reason != "" {
				leftOut = append(leftOut, LeftOut{s.skill.Name, s.reason, s.reason == isChanging})
			}
		}
		if err != nil {
			break
		}
	}
	same := err == nil && last.isOf(seen)
	if err == nil && !same {
		err = c.complete(next, last, seen)
	}
	if err != nil || same {
		_ = tempdir.Remove(next.dir) // else Close does
		return last, leftOut, err
	}
	return next, leftOut, nil
}

// isOf reports whether an edition is one of what was seen, and nothing else.
func (e *edition) isOf(seen []sight) bool {
	count := 0
	for _, s := range seen {
		if s.reason != "" {
			continue
		}
		if s.as == nil {
			return false
		}
		count++
	}
	return e != nil && count == len(e.volumes)
}

// add copies a skill to an edition, unless that of the last one turns out to be the
// same. A skill that cannot be copied gets the reason; an error is one for all.
func (c *Copies) add(ctx context.Context, next, last *edition, s *sight) error {
	v := &volume{of: s.skill}
	v.source, v.dir = s.skill.Dir, filepath.Join(next.dir, s.skill.Name)
	err := c.copyFitting(ctx, v)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.reason = reasonFor(err); s.reason != "" {
		return nil
	}
	if as := last.volume(s.skill); as != nil && as.digest == v.digest {
		as.found, as.proof, as.of = v.found, v.proof, s.skill
		s.as = as
		return tempdir.Remove(v.dir)
	}
	next.volumes[s.skill.Name] = v
	return nil
}

// copyFitting copies a skill until nothing changes meanwhile, and the copy is of
// the skill as that was read.
func (c *Copies) copyFitting(ctx context.Context, v *volume) error {
	source, err := c.openSource(v.source)
	if err != nil {
		return err
	}
	defer source.Close()
	for range maxAttempts {
		if err = c.copy(ctx, source, &v.version); err == nil && !v.of.ReadFrom(v.dir) {
			err = contained.ErrChanged
		}
		if err == nil {
			return nil
		}
		_ = tempdir.Remove(v.dir) // else it cannot be made again
		if !errors.Is(err, contained.ErrChanged) {
			break
		}
	}
	return err
}

// complete adds what did not change to an edition, and closes it. Where nothing
// uses the last edition, it is taken from there.
func (c *Copies) complete(next, last *edition, seen []sight) error {
	take := linkTree
	if c.retire(last) {
		take = moveTree
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.drop(last)
		}()
	}
	for _, s := range seen {
		if s.as == nil || s.reason != "" {
			continue
		}
		v := *s.as
		v.dir = filepath.Join(next.dir, s.skill.Name)
		if err := take(s.as.dir, v.dir); err != nil {
			return notCopied(err)
		}
		next.volumes[s.skill.Name] = &v
	}
	return next.close()
}

// retire takes back an edition that nothing uses, and reports whether it did.
func (c *Copies) retire(e *edition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e == nil || e.holders > 0 {
		return false
	}
	c.shown = nil
	return true
}

// close settles what an edition is.
func (e *edition) close() error {
	var lines []string
	for name, v := range e.volumes {
		info, err := os.Lstat(v.dir)
		if err != nil {
			return notCopied(err)
		}
		v.written = info.ModTime()
		lines = append(lines, percent.Path(name)+" "+v.digest)
	}
	slices.Sort(lines)
	e.digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
	if err := sealDir(e.dir); err != nil {
		return notCopied(err)
	}
	return nil
}

// sealDir takes the right to write to a directory away.
func sealDir(dir string) error {
	if runtime.GOOS == "windows" { // which would hide it
		return nil
	}
	return os.Chmod(dir, executableMode)
}

// moveTree moves a sealed directory.
func moveTree(from, to string) error {
	above := filepath.Dir(from)
	if err := errors.Join(os.Chmod(above, 0o700), os.Chmod(from, 0o700)); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return sealDir(to)
}

// linkTree makes another directory of the files of a sealed one.
func linkTree(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		old, made := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		switch {
		case entry.IsDir():
			err = linkTree(old, made)
		case entry.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(old); err == nil {
				err = os.Symlink(target, made)
			}
		default:
			err = os.Link(old, made)
		}
		if err != nil {
			return err
		}
	}
	return sealDir(to)
}
