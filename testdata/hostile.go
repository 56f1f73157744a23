package testdata

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// HardLinkText is the content of the file outside every skill to which
// CopyHostile makes a hard link. Nobody can tell it from a file of the skill.
const HardLinkText = "This file lies outside of the skill and has a second name inside.\n"

// CopyHostile copies the hostile skills below a temporary directory of t,
// links kept as they are, adds what git cannot keep, and returns the root's
// absolute path. The README.md of the root lists everything. What the
// platform or the user could not make is logged.
//
// As in the repository, the file with [OutsideMarker] is outside.txt in the
// root's parent.
func CopyHostile(t testing.TB) string {
	t.Helper()
	parent := t.TempDir()
	root := filepath.Join(parent, "hostile")
	copyTree(t, root, hostile())
	outside, err := os.ReadFile(filepath.Join(Dir(), "skills", "outside.txt"))
	if err != nil {
		t.Fatal(err)
	}
	builder{t, parent}.file("outside.txt", string(outside))
	b := builder{t, root}
	addManyFiles(b)
	addDeepTree(b)
	addHardLink(b)
	addDroppings(b)
	addCaseTwins(b)
	addSpecial(b)
	return root
}

// copyTree copies directories, regular files with their permissions, and
// symbolic links.
func copyTree(t testing.TB, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			builder{t, to}.try("the link "+name, os.Symlink(link, target))
			return nil
		}
		return copyFile(target, path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

// addManyFiles makes hard links of one file a directory where it can: they
// take a thirtieth of the time of new files.
func addManyFiles(b builder) {
	in := b.skill("many-files", "Ten thousand files")
	for dir := range 100 {
		first := fmt.Sprintf("files/%02d/00.txt", dir)
		in.file(first, "one of many\n")
		for n := 1; n < 100; n++ {
			name := fmt.Sprintf("files/%02d/%02d.txt", dir, n)
			if os.Link(in.path(first), in.path(name)) != nil {
				in.file(name, "one of many\n")
			}
		}
	}
}

func addDeepTree(b builder) {
	in := b.skill("deep-tree", "Directories two hundred deep")
	deepest := strings.Repeat("d/", 200) + "bottom.md"
	path := filepath.Join(in.dir, filepath.FromSlash(deepest))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte("The bottom.\n"), 0o644)
	}
	b.try("a tree 200 deep", err)
}

func addHardLink(b builder) {
	in := b.skill("hard-link", "A hard link to a file outside")
	outside := builder{b.t, filepath.Dir(b.dir)}
	outside.file("hard-linked.txt", HardLinkText)
	b.try("a hard link", os.Link(outside.path("hard-linked.txt"), in.path("references/outside.md")))
}

// addDroppings leaves what version control, package managers and editors do.
func addDroppings(b builder) {
	in := b.skill("droppings", "What tools leave in a directory")
	in.file("references/kept.md", "The only reference.\n")
	for _, dir := range []string{".git", "node_modules", "__pycache__"} {
		builder{b.t, filepath.Join(in.dir, dir)}.skill("dropped", "A skill that nobody meant to publish")
	}
	builder{b.t, filepath.Join(b.dir, "node_modules")}.skill("dropped", "A skill that nobody meant to publish")
	for _, name := range []string{".DS_Store", "SKILL.md~", ".SKILL.md.swp", "#SKILL.md#", "references/kept.md~"} {
		in.file(name, "dropped\n")
	}
	b.try("an editor's lock", os.Symlink("somebody@host.1234:1", in.path(".#SKILL.md")))
}

func addCaseTwins(b builder) {
	in := b.skill("case-twins", "SKILL.md and skill.md")
	if _, err := os.Lstat(in.path("skill.md")); err == nil {
		b.t.Log("testdata: could not make case-twins: letter case makes no difference here")
		return
	}
	in.file("skill.md", entry("case-twins", "The twin that loses"))
}
