package catalog

import (
	"context"
	"io/fs"
	"path/filepath"
)

// maxPolled bounds how many files of skills are looked at in one poll.
const maxPolled = 200_000

// fingerprints are the identities of the files of skills at the last poll.
// The zero value knows none.
type fingerprints map[string]identity

// update looks at the files of all skills and gives the paths of those that
// came, went or changed since the last call; the first call gives none. It
// is called before the scan, so that what changes during the scan is seen by
// the next call.
func (f *fingerprints) update(ctx context.Context, s *Snapshot) []string {
	before, now := *f, fingerprints{}
	now.adopt(ctx, s)
	if ctx.Err() != nil {
		return nil
	}
	*f = now
	if before == nil {
		return nil
	}
	var changed []string
	for path, id := range now {
		if was, found := before[path]; !found || was != id {
			changed = append(changed, path)
		}
	}
	for path := range before {
		if _, found := now[path]; !found {
			changed = append(changed, path)
		}
	}
	return changed
}

// adopt takes the files of skills that are not known yet as they are.
func (f *fingerprints) adopt(ctx context.Context, s *Snapshot) {
	if *f == nil {
		*f = fingerprints{}
	}
	for _, skill := range s.skills {
		f.directory(ctx, skill.Dir)
	}
}

// directory takes the files below dir. What cannot be read is left out, and
// is seen as changed when it can be.
func (f fingerprints) directory(ctx context.Context, dir string) {
	entries, err := list(dir)
	if err != nil || ctx.Err() != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, found := f[path]; found || len(f) >= maxPolled {
			continue
		}
		if e.IsDir() {
			if !ignoredDirs[e.Name()] {
				f.directory(ctx, path)
			}
			continue
		}
		if info, err := e.Info(); err == nil && !ignoredFile(e.Name()) && info.Mode()&fs.ModeIrregular == 0 {
			f[path] = identityOf(info)
		}
	}
}
