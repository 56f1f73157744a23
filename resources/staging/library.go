package staging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// The limits of a library: directories and links are files too.
const (
	maxLibraryFiles = 200_000
	maxLibraryBytes = 2 << 30
)

// Library is a directory that holds copies of skills as [Copy] has them, each
// below its name, that nothing else writes to. It stays until [Library.Release].
type Library struct {
	// Dir is the absolute host directory. It is never shown to a client.
	Dir string
	// Digest stands for all that is in Dir, as that of a Copy does.
	Digest string
	// Skills is how many there are, and LeftOut are the others.
	Skills  int
	LeftOut []LeftOut

	release func()
}

// LeftOut is a skill that is not in a library.
type LeftOut struct {
	Name string
	// Reason is the end of a sentence that begins with the name.
	Reason string
	// Changed reports that it is not what it was when it was read as one of the
	// skills.
	Changed bool
}

// Release ends the use of the library. It may be called again.
func (l *Library) Release() { l.release() }

// TakeLibrary returns a library of skills, no two of one name, as they are on disk
// now. Those that cannot be copied are left out, and so is each that would be
// beyond 200,000 files and 2 GiB with those before it. What did not change since
// the last library is not copied again. The caller releases it. Errors are
// [*contained.Error], the context's, or [ErrClosed].
func (c *Copies) TakeLibrary(ctx context.Context, skills []*catalog.Skill) (taken *Library, err error) {
	err = c.inTurn(ctx, "", func(ctx context.Context) error {
		seen, err := c.lookAll(ctx, skills)
		if err != nil {
			return err
		}
		leftOut := c.leaveOut(seen)
		made, more, err := c.edit(ctx, seen)
		if err != nil {
			return err
		}
		taken = c.lend(made)
		taken.LeftOut = append(leftOut, more...)
		return nil
	})
	return taken, err
}

// lend makes an edition the newest, and lends it.
func (c *Copies) lend(made *edition) *Library {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.shown; old != made {
		c.shown = made
		c.drop(old)
	}
	made.holders++
	return &Library{Dir: made.dir, Digest: made.digest, Skills: len(made.volumes), release: sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		made.holders--
		c.drop(made)
	})}
}

// sight is a skill as it was found now.
type sight struct {
	skill *catalog.Skill
	// as is the copy of it in the newest edition, or nil where that is of
	// something else.
	as     *volume
	files  int
	bytes  int64
	reason string // for which it is left out
}

// lookAll looks at skills without reading their files.
func (c *Copies) lookAll(ctx context.Context, skills []*catalog.Skill) ([]sight, error) {
	last := c.lastEdition()
	seen := make([]sight, len(skills))
	looking, ctx := errgroup.WithContext(ctx)
	looking.SetLimit(runtime.GOMAXPROCS(0))
	for i, skill := range skills {
		looking.Go(func() error {
			seen[i] = sight{skill: skill}
			err := c.look(ctx, last, &seen[i])
			seen[i].reason = reasonFor(err)
			return ctx.Err()
		})
	}
	return seen, looking.Wait()
}

// look looks at one skill.
func (c *Copies) look(ctx context.Context, last *edition, s *sight) error {
	as := last.volume(s.skill)
	if as != nil && as.glance.holds() && as.fits(s.skill) {
		s.as, s.files, s.bytes = as, as.files, as.bytes
		return nil
	}
	source, err := c.openSource(s.skill.Dir)
	if err != nil {
		return err
	}
	defer source.Close()
	now := time.Now()
	own, err := os.Stat(s.skill.Dir)
	if err != nil {
		return err
	}
	found, err := takeInventory(ctx, source)
	if err != nil {
		return err
	}
	s.files, s.bytes = len(found)+1, found.bytes()
	state, _ := found.state(now)
	if as != nil && as.proof && as.found == state && as.fits(s.skill) {
		as.glance, as.files = glanceOf(s.skill.Dir, own, found, now), s.files
		s.as = as
	}
	return nil
}

// leaveOut returns those that cannot be in a library, and gives a reason to those
// for which there is no room.
func (c *Copies) leaveOut(seen []sight) (leftOut []LeftOut) {
	files, bytes, names := 0, int64(0), map[string]bool{}
	for i := range seen {
		s := &seen[i]
		if s.reason == "" && (files+s.files > c.libraryFiles || bytes+s.bytes > c.libraryBytes) {
			s.reason = fmt.Sprintf("would be beyond %d files or %d bytes with the others", c.libraryFiles, c.libraryBytes)
		}
		if name := nameOnDisk(s.skill.Name); s.reason == "" && names[name] {
			s.reason = "has the name of another one here"
		} else if s.reason == "" {
			names[name] = true
		}
		if s.reason != "" {
			leftOut = append(leftOut, LeftOut{Name: s.skill.Name, Reason: s.reason})
			continue
		}
		files, bytes = files+s.files, bytes+s.bytes
	}
	return leftOut
}

// nameOnDisk returns what is equal for names that would be those of one directory.
func nameOnDisk(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(name)
	}
	return name
}

// isChanging is the reason for which a skill is left out that is not what it was.
const isChanging = "is being changed"

// reasonFor says why a skill is not in a library.
func reasonFor(err error) string {
	if err == nil {
		return ""
	}
	refused, ok := errors.AsType[*contained.Error](err)
	switch {
	case errors.Is(err, contained.ErrChanged):
		return isChanging
	case !ok:
		return "cannot be copied"
	case refused.Rule == contained.NotFound, refused.Rule == contained.NotDirectory:
		return "is gone from disk"
	case refused.Rule == contained.TooLarge:
		return "is too large"
	}
	return "cannot be read"
}
