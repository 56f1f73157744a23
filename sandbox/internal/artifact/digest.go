package artifact

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Collection is what changed in a workspace.
type Collection struct {
	// Snapshot is what the workspace holds now.
	Snapshot *Snapshot
	// Changed and Omitted are as in [Snapshot.Since], with digests.
	Changed []sandbox.Artifact
	Omitted int
}

// Collect finds what changed in a workspace since a snapshot.
func Collect(workspace string, before *Snapshot) (Collection, error) {
	now, err := Take(workspace)
	if err != nil {
		return Collection{}, err
	}
	c := Collection{Snapshot: now}
	c.Changed, c.Omitted = now.Since(before)
	return c, now.digest(workspace, c.Changed)
}

// digest adds digests as far as [sandbox.MaxDigestBytes] goes.
func (s *Snapshot) digest(workspace string, list []sandbox.Artifact) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	bySize := make([]*sandbox.Artifact, len(list))
	for i := range list {
		bySize[i] = &list[i]
	}
	slices.SortFunc(bySize, func(a, b *sandbox.Artifact) int { return cmp.Compare(a.Size, b.Size) })
	left := int64(sandbox.MaxDigestBytes)
	for _, file := range bySize {
		if left -= file.Size; left < 0 {
			break
		}
		file.Digest = s.sum(root, file.Path, file.Size)
	}
	return nil
}

// sum returns the digest of a file that was size bytes long, or nothing where it
// is not any more what the snapshot saw: another run may have changed it, or
// put something else in its place.
func (s *Snapshot) sum(root *os.Root, name string, size int64) string {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !same(s.entries[name], info) {
		return ""
	}
	hash := sha256.New()
	read, err := io.Copy(hash, io.LimitReader(file, size+1))
	if err != nil || read != size {
		return ""
	}
	if info, err = file.Stat(); err != nil || !same(s.entries[name], info) {
		return ""
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}
