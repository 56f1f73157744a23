package resources

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/percent"
)

// The limits that SEP-2640 fixes for one skill.
const (
	MaxSkillFiles = 512
	MaxSkillBytes = 16 << 20
)

// Manifest enumerates the served files of a skill (SEP-2640, "Resources").
type Manifest struct {
	// Files are sorted by path in byte order. Each has its URI by [URI].
	Files []File
	// Bytes is the sum of the sizes.
	Bytes int64
	// Digest stands for all of it: "sha256:" and the hash, in lower-case
	// hexadecimal, over one line a file of digest, size and percent-encoded
	// path. It changes when any served file does, and says nothing about
	// what is not served, such as node_modules.
	Digest string
}

// File is one file of a manifest.
type File struct {
	// Path is relative to the skill. Its bytes need not be UTF-8.
	Path string
	// Digest is "sha256:" and 64 lower-case hexadecimal characters, over the
	// Size raw bytes.
	Digest string
	// Size is in bytes.
	Size int64
}

// Limit names a limit of a skill.
type Limit string

// The limits.
const (
	FileLimit Limit = "files" // [MaxSkillFiles]
	ByteLimit Limit = "bytes" // [MaxSkillBytes]
)

// LimitError tells that a skill is beyond a limit of SEP-2640, so that hosts
// need not accept it. How far beyond is not looked at.
type LimitError struct {
	Limit Limit
	// Max is the limit itself.
	Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the skill has more than %d %s", e.Max, e.Limit)
}

// Manifest lists and digests every served file of a skill, those of skills
// nested in it included. Files that the operating system does not let the
// server read are not served, and so left out. Errors are [*LimitError],
// [*contained.Error], or the context's.
func (d *Digests) Manifest(ctx context.Context, skill *catalog.Skill) (Manifest, error) {
	tree, err := OpenSkill(skill)
	if err != nil {
		return Manifest{}, err
	}
	defer tree.Close()
	b := manifestBuilder{ctx: ctx, tree: tree, digests: d}
	if err := b.find(); err != nil {
		return Manifest{}, err
	}
	if err := b.digest(); err != nil {
		return Manifest{}, err
	}
	slices.SortFunc(b.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return Manifest{Files: b.files, Bytes: b.bytes, Digest: digestOf(b.files)}, nil
}

// CheckLimits tells, without reading any file, whether a skill is beyond a
// limit of SEP-2640. Errors are those of [Digests.Manifest].
func CheckLimits(ctx context.Context, skill *catalog.Skill) error {
	tree, err := OpenSkill(skill)
	if err != nil {
		return err
	}
	defer tree.Close()
	b := manifestBuilder{ctx: ctx, tree: tree}
	return b.find()
}

// manifestBuilder makes a manifest in two steps, so that a skill beyond the
// limits is refused before anything is hashed.
type manifestBuilder struct {
	ctx     context.Context
	tree    *contained.Dir
	digests *Digests
	found   []foundFile
	files   []File
	bytes   int64
}

type foundFile struct {
	path string
	info fs.FileInfo
}

// find collects the files by name.
func (b *manifestBuilder) find() error {
	var claimed int64
	more, err := b.tree.Walk(func(clean string, info fs.FileInfo) error {
		if info.IsDir() {
			return b.ctx.Err()
		}
		b.found = append(b.found, foundFile{clean, info})
		claimed += info.Size()
		return b.within(len(b.found), claimed)
	})
	if err == nil && more {
		err = &LimitError{Limit: FileLimit, Max: MaxSkillFiles}
	}
	return err
}

func (b *manifestBuilder) within(files int, bytes int64) error {
	switch {
	case files > MaxSkillFiles:
		return &LimitError{Limit: FileLimit, Max: MaxSkillFiles}
	case bytes > MaxSkillBytes:
		return &LimitError{Limit: ByteLimit, Max: MaxSkillBytes}
	}
	return b.ctx.Err()
}

// digest hashes what was found.
func (b *manifestBuilder) digest() error {
	for _, found := range b.found {
		sum, size, err := b.digests.sum(b.tree, found.path, found.info)
		var refused *contained.Error
		if errors.As(err, &refused) && refused.Rule != contained.Unreadable {
			continue // it went away, or is not served
		}
		if err != nil {
			return err
		}
		b.bytes += size
		b.files = append(b.files, File{
			Path:   found.path,
			Digest: "sha256:" + hex.EncodeToString(sum[:]),
			Size:   size,
		})
		if err := b.within(len(b.files), b.bytes); err != nil {
			return err
		}
	}
	return nil
}

// digestOf hashes sorted files. Encoded paths hold neither spaces nor line
// breaks, so that no two sets of files give the same lines.
func digestOf(files []File) string {
	var lines strings.Builder
	for _, file := range files {
		fmt.Fprintf(&lines, "%s %d %s\n", file.Digest, file.Size, percent.Path(file.Path))
	}
	sum := sha256.Sum256([]byte(lines.String()))
	return "sha256:" + hex.EncodeToString(sum[:])
}
