package staging

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// Copy is one version of a skill, in a directory that nothing else writes to.
// It stays until [Copy.Release].
type Copy struct {
	// Dir is the absolute host directory; its last element is that of the
	// skill's own. It is never shown to a client.
	Dir string
	// Digest stands for all that is in Dir: "sha256:" and the hash, in
	// lower-case hexadecimal, over the path of every directory, file and link,
	// and each file's bytes and whether it is executable. It is not that of a
	// manifest, which has no node_modules.
	Digest string

	release func()
}

// Release ends the use of the copy. It may be called again.
func (c *Copy) Release() { c.release() }

// version is a copy that is made, and what it was made from.
type version struct {
	source      string // the skill's own directory
	parent, dir string
	digest      string
	bytes       int64
	// found is the state of the source. proof is set where an equal state
	// proves an equal content.
	found [sha256.Size]byte
	proof bool
	// own is the state of the copy itself. A program that nothing isolates may
	// have written there all the same.
	own [sha256.Size]byte

	// Copies has the lock of the rest.
	holders int
	used    uint64 // larger is later
}

// maxAttempts is how often a skill is copied that changes meanwhile.
const maxAttempts = 3

// make copies a skill until nothing changes meanwhile.
func (c *Copies) make(ctx context.Context, source *contained.Dir, dir string) (*version, error) {
	for range maxAttempts {
		v, err := c.attempt(ctx, source, dir)
		if !errors.Is(err, contained.ErrChanged) {
			return v, err
		}
	}
	e := contained.Refuse(contained.Unreadable, filepath.Base(dir), "changes all the time, so no version of it can be run")
	e.Hint = "Try again when nothing writes to the skill's directory any more."
	return nil, e
}

// attempt copies a skill once.
func (c *Copies) attempt(ctx context.Context, source *contained.Dir, dir string) (*version, error) {
	parent, err := c.newDir()
	if err != nil {
		return nil, err
	}
	v := &version{source: dir, parent: parent, dir: filepath.Join(parent, filepath.Base(dir))}
	if err := c.copy(ctx, source, v); err != nil {
		_ = tempdir.Remove(v.parent) // else Close does
		return nil, err
	}
	return v, nil
}

// newDir makes a directory for copies.
func (c *Copies) newDir() (string, error) {
	// Theirs may have been removed, as what lies in a directory for temporary
	// files may at any time.
	if err := os.MkdirAll(c.dir.Path(), 0o700); err != nil {
		return "", notCopied(err)
	}
	dir, err := os.MkdirTemp(c.dir.Path(), "")
	if err != nil {
		return "", notCopied(err)
	}
	return dir, nil
}

// copy copies a skill to the directory of a version, which it makes. What was
// copied is one version of it only if the directory is the same before and after;
// else the error is [contained.ErrChanged].
func (c *Copies) copy(ctx context.Context, source *contained.Dir, v *version) error {
	start := time.Now()
	before, err := takeInventory(ctx, source)
	if err != nil {
		return err
	}
	v.found, v.proof = before.state(start)
	leftOut, err := v.fill(ctx, source, before)
	if err == nil {
		err = v.confirm(ctx, source)
	}
	if err == nil && len(leftOut) > 0 {
		c.log.Warn("files are left out of a skill's copy", "skill", filepath.Base(v.source), "files", len(leftOut), "first", leftOut[0])
	}
	return err
}

// fill copies what was found, and returns what was left out.
func (v *version) fill(ctx context.Context, source *contained.Dir, found inventory) (leftOut []string, err error) {
	if err := os.Mkdir(v.dir, 0o700); err != nil {
		return nil, notCopied(err)
	}
	to, err := os.OpenRoot(v.dir)
	if err != nil {
		return nil, notCopied(err)
	}
	defer to.Close()
	job := &copying{ctx: ctx, from: source, to: to}
	if err := job.all(found); err != nil {
		var known *contained.Error
		if errors.Is(err, contained.ErrChanged) || errors.As(err, &known) || ctx.Err() != nil {
			return nil, err
		}
		return nil, notCopied(err)
	}
	v.digest, v.bytes = job.digest(), job.bytes
	if v.own, err = stateOf(ctx, v.dir); err != nil {
		return nil, notCopied(err)
	}
	return job.leftOut, nil
}

// confirm checks that the skill still is what was copied.
func (v *version) confirm(ctx context.Context, source *contained.Dir) error {
	now, err := takeInventory(ctx, source)
	if err != nil {
		return err
	}
	if state, _ := now.state(time.Now()); state != v.found {
		return contained.ErrChanged
	}
	return nil
}

// intact reports whether the copy is as it was made.
func (v *version) intact(ctx context.Context) bool {
	own, err := stateOf(ctx, v.dir)
	return err == nil && own == v.own
}

// stateOf returns the state of a finished copy.
func stateOf(ctx context.Context, dir string) (state [sha256.Size]byte, err error) {
	made, err := contained.Open(dir, contained.Options{Runnable: true})
	if err != nil {
		return state, err
	}
	defer made.Close()
	found, err := takeInventory(ctx, made)
	state, _ = found.state(time.Now())
	return state, err
}

func notCopied(err error) error {
	return &contained.Error{Rule: contained.Unreadable, Message: "the skill's files could not be copied for the run",
		Hint: "Tell the user that the directory for temporary files may be full; the log of skills-mcp says more.",
		Err:  fmt.Errorf("copy a skill: %w", err)}
}
