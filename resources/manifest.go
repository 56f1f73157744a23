package resources

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// The limits that SEP-2640 fixes for one skill.
const (
	maxSkillFiles = 512
	maxSkillBytes = 16 << 20
)

// File is one file of a manifest. It has its URI by [URI].
type File struct {
	// Path is relative to the skill. Its bytes need not be UTF-8.
	Path string
	// Digest is "sha256:" and 64 lower-case hexadecimal characters, over the
	// Size raw bytes.
	Digest string
	// Size is in bytes.
	Size int64
}

// LimitError means that a skill is beyond a limit of SEP-2640, so that hosts
// need not accept it. How far beyond is not looked at.
type LimitError struct{ limit string }

func (e *LimitError) Error() string { return "the skill has more than " + e.limit }

// Manifest lists and digests every served file of a skill, those of skills
// nested in it included (SEP-2640, "Resources"), sorted by path in byte order.
// Files that the operating system does not let the server read are not served,
// and so left out. Errors are [*LimitError], [*contained.Error] (one that is
// [contained.ErrChanged] where a file changes all the time), or the context's.
func (d *Digests) Manifest(ctx context.Context, skill *catalog.Skill) ([]File, error) {
	dir, err := OpenSkill(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := find(ctx, dir)
	if err != nil {
		return nil, err
	}
	var files []File
	var bytes int64
	for _, file := range found {
		sum, size, err := d.sum(dir, file.path, file.info)
		if refused, ok := errors.AsType[*contained.Error](err); ok && refused.Rule != contained.Unreadable {
			continue // it went away, or is not served
		}
		if err != nil {
			return nil, err
		}
		bytes += size
		files = append(files, File{Path: file.path, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: size})
		if err := within(ctx, len(files), bytes); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}

// CheckLimits reports, without reading any file, whether a skill is beyond a
// limit of SEP-2640. Errors are those of [Digests.Manifest].
func CheckLimits(ctx context.Context, skill *catalog.Skill) error {
	dir, err := OpenSkill(skill)
	if err != nil {
		return err
	}
	defer dir.Close()
	_, err = find(ctx, dir)
	return err
}

type found struct {
	path string
	info fs.FileInfo
}

// find looks for the files that are served, so that a skill beyond the limits
// is refused before anything is hashed.
func find(ctx context.Context, dir *contained.Dir) (files []found, err error) {
	var claimed int64
	more, err := dir.Walk(func(clean string, info fs.FileInfo) error {
		if !info.IsDir() {
			files = append(files, found{clean, info})
			claimed += info.Size()
		}
		return within(ctx, len(files), claimed)
	})
	if err == nil && more {
		err = within(ctx, maxSkillFiles+1, 0)
	}
	return files, err
}

func within(ctx context.Context, files int, bytes int64) error {
	switch {
	case files > maxSkillFiles:
		return &LimitError{fmt.Sprintf("%d files", maxSkillFiles)}
	case bytes > maxSkillBytes:
		return &LimitError{fmt.Sprintf("%d bytes", maxSkillBytes)}
	}
	return ctx.Err()
}
