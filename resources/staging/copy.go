package staging

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// Copy is one version of a skill, in a directory that nobody else writes to.
// It stays until [Copy.Release].
type Copy struct {
	// Dir is the absolute host directory; its last element is that of the
	// skill's own. It is never shown to a client.
	Dir string
	// Digest stands for all that is in Dir: "sha256:" and the hash, in
	// lower-case hexadecimal, over the path of every directory, file and link,
	// and each file's bytes and whether it is executable. It is not that of a
	// [resources.Manifest], which knows no node_modules.
	Digest string

	release func()
}

// Release lets the copy go. It may be called again.
func (c *Copy) Release() { c.release() }

// version is a copy that is made, and what it was made from.
type version struct {
	parent, dir string
	digest      string
	bytes       int64
	// source are the stamps of the skill's own directory. proof tells that
	// equal stamps prove an equal content.
	source [sha256.Size]byte
	proof  bool
	// own are those of the copy itself. A program that nothing isolates may
	// have written there all the same.
	own [sha256.Size]byte

	// The rest is guarded by [Copies].
	holders int
	used    uint64 // larger is later
	newest  bool   // of its skill
}

// maxAttempts is how often a skill is copied that changes meanwhile.
const maxAttempts = 3

// make copies a skill until nothing changes meanwhile, and gives the version.
func (c *Copies) make(ctx context.Context, tree *contained.Dir, name string) (*version, error) {
	for range maxAttempts {
		v, err := c.attempt(ctx, tree, name)
		if !errors.Is(err, contained.ErrChanged) {
			return v, err
		}
	}
	e := contained.Refuse(contained.Unreadable, name, "changes all the time, so no version of it can be run")
	e.Hint = "Try again when nothing writes to the skill's directory any more."
	return nil, e
}

// attempt copies a skill once. What was copied is one version of it only if
// the directory is the same before and after.
func (c *Copies) attempt(ctx context.Context, tree *contained.Dir, name string) (*version, error) {
	start := time.Now()
	before, err := takeInventory(ctx, tree)
	if err != nil {
		return nil, err
	}
	v, err := c.newVersion(name)
	if err != nil {
		return nil, notCopied(err)
	}
	v.source, v.proof = before.stamps(start)
	leftOut, err := v.fill(ctx, tree, before)
	if err == nil {
		err = v.confirm(ctx, tree)
	}
	if err != nil {
		_ = tempdir.Remove(v.parent) // else Close does
		return nil, err
	}
	if len(leftOut) > 0 {
		c.log.Warn("files are left out of a skill's copy", "skill", name, "files", len(leftOut), "first", leftOut[0])
	}
	return v, nil
}

// fill copies what was found, and gives what was left out.
func (v *version) fill(ctx context.Context, tree *contained.Dir, found inventory) (leftOut []string, err error) {
	to, err := os.OpenRoot(v.dir)
	if err != nil {
		return nil, notCopied(err)
	}
	defer to.Close()
	job := &copying{ctx: ctx, from: tree, to: to}
	if err := job.all(found); err != nil {
		var known *contained.Error
		if errors.Is(err, contained.ErrChanged) || errors.As(err, &known) || ctx.Err() != nil {
			return nil, err
		}
		return nil, notCopied(err)
	}
	v.digest, v.bytes = job.contents.digest(), job.bytes
	if v.own, err = stampsOf(ctx, v.dir); err != nil {
		return nil, notCopied(err)
	}
	return job.leftOut, nil
}

// confirm tells whether the skill still is what was copied.
func (v *version) confirm(ctx context.Context, tree *contained.Dir) error {
	now, err := takeInventory(ctx, tree)
	if err != nil {
		return err
	}
	if stamps, _ := now.stamps(time.Now()); stamps != v.source {
		return contained.ErrChanged
	}
	return nil
}

// newVersion makes an empty directory.
func (c *Copies) newVersion(name string) (*version, error) {
	// It may have been removed, as what lies in a directory for temporary
	// files may at any time.
	if err := os.MkdirAll(c.dir.Path(), 0o700); err != nil {
		return nil, err
	}
	parent, err := os.MkdirTemp(c.dir.Path(), "")
	if err != nil {
		return nil, err
	}
	v := &version{parent: parent, dir: filepath.Join(parent, name)}
	return v, os.Mkdir(v.dir, 0o700)
}

func notCopied(err error) error {
	return &contained.Error{Rule: contained.Unreadable, Path: ".", Message: "the skill's files could not be copied for the run",
		Hint: "Tell the user that the directory for temporary files may be full; the log of skills-mcp says more.",
		Err:  fmt.Errorf("copy a skill: %w", err)}
}

// intact tells whether the copy is as it was made.
func (v *version) intact(ctx context.Context) bool {
	own, err := stampsOf(ctx, v.dir)
	return err == nil && own == v.own
}

// hold gives the version out. The lock is held.
func (c *Copies) hold(v *version) *Copy {
	v.holders++
	c.clock++
	v.used = c.clock
	return &Copy{Dir: v.dir, Digest: v.digest, release: sync.OnceFunc(func() { c.release(v) })}
}
