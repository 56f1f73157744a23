package validating

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// maxRepairedBytes is the size of the largest file that is repaired.
const maxRepairedBytes = 1 << 20

// Repair is what can be corrected in one skill without judgement.
type Repair struct {
	dir   string // of the skill
	shown string
	files []repairedFile
	// entry is what its entry document is called, where that has to be SKILL.md.
	entry string
	// name is what its directory is to be called, or empty.
	name string
	// seen are the files that are corrected, of all skills.
	seen map[string]bool
}

// repairedFile is a file whose bytes become others.
type repairedFile struct {
	path     string
	old, now []byte
}

// Repairs returns what can be corrected in the skills of a report, in the order in
// which it has to be done: skills inside of others first. Those in archives and
// behind links are left alone.
func (r *Report) Repairs() (repairs []Repair, err error) {
	skills := slices.Clone(r.Skills)
	slices.SortStableFunc(skills, func(a, b Skill) int { return len(b.Path) - len(a.Path) })
	seen := map[string]bool{} // files
	for _, skill := range skills {
		file := skill.Path
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.from, file)
		}
		dir := filepath.Dir(file)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		repair := Repair{dir: dir, shown: r.shown(dir), seen: seen}
		if err := repair.look(filepath.Base(file)); err != nil {
			return nil, fmt.Errorf("%s: %w", skill.Path, err)
		}
		if r.has("name-directory", skill.Path) && !pathname.Within(r.from, dir) {
			repair.rename(skill.Name)
		}
		if repair.any() {
			repairs = append(repairs, repair)
		}
	}
	return repairs, nil
}

func (p *Repair) any() bool { return len(p.files) > 0 || p.entry != "" || p.name != "" }

// open opens the directory to write in. No link is followed then, and no file with
// several names is changed.
func (p *Repair) open() (*contained.Dir, error) {
	return contained.Open(p.dir, contained.Options{Untrusted: true})
}

// look finds out what is to be done in the directory.
func (p *Repair) look(entry string) error {
	dir, err := p.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	content, err := dir.ReadAll(entry, maxRepairedBytes)
	if _, refused := errors.AsType[*contained.Error](err); refused {
		return nil // the report says what is wrong with it
	}
	if err != nil {
		return err
	}
	p.add(entry, content.Data, catalog.Repair(content.Data))
	if entry != "SKILL.md" {
		if _, err := os.Lstat(filepath.Join(p.dir, "SKILL.md")); errors.Is(err, fs.ErrNotExist) {
			p.entry = entry
		}
	}
	_, err = dir.Walk(func(file string, info fs.FileInfo) error {
		if info.Mode().IsRegular() && info.Size() <= maxRepairedBytes && file != entry {
			p.script(dir, file)
		}
		return nil
	})
	return err
}

func (p *Repair) add(file string, old, now []byte) {
	whole := filepath.Join(p.dir, filepath.FromSlash(file))
	if !bytes.Equal(old, now) && !p.seen[whole] {
		p.seen[whole] = true
		p.files = append(p.files, repairedFile{file, old, now})
	}
}

// script has a script's lines end in LF where the line that names its interpreter
// does not.
func (p *Repair) script(dir *contained.Dir, file string) {
	if content, err := dir.ReadAll(file, maxRepairedBytes); err == nil && namesCR(content.Data) {
		p.add(file, content.Data, catalog.LineFeeds(content.Data))
	}
}

// rename has the directory be called as the skill, where the name is a good one and
// nothing is called so.
func (p *Repair) rename(name string) {
	if catalog.NameFault(name) != "" {
		return
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(p.dir), name)); errors.Is(err, fs.ErrNotExist) {
		p.name = name
	}
}

// Diff shows what would be done, for people, and for git where it can be shown so.
func (p *Repair) Diff() string {
	var text strings.Builder
	for _, file := range p.files {
		shown := filepath.ToSlash(filepath.Join(p.shown, file.path))
		if bytes.HasPrefix(file.old, []byte("\ufeff")) {
			fmt.Fprintf(&text, "%s: leave the byte-order mark out\n", terminal.Printable(shown))
		}
		if bytes.ContainsRune(file.old, '\r') {
			fmt.Fprintf(&text, "%s: end lines in LF\n", terminal.Printable(shown))
		}
		old := string(catalog.LineFeeds(bytes.TrimPrefix(file.old, []byte("\ufeff"))))
		text.WriteString(udiff.Unified("a/"+shown, "b/"+shown, old, string(file.now)))
	}
	if p.entry != "" {
		fmt.Fprintf(&text, "%s: rename to SKILL.md\n", terminal.Printable(filepath.ToSlash(filepath.Join(p.shown, p.entry))))
	}
	if p.name != "" {
		fmt.Fprintf(&text, "%s: rename to %s\n", terminal.Printable(filepath.ToSlash(p.shown)), terminal.Printable(p.name))
	}
	return text.String()
}

// errChanged is for what is not any more what was shown.
var errChanged = errors.New("it changed meanwhile; nothing more of this skill was changed")

// Apply does it. Each file is the old one or the new one whole, with its mode.
func (p *Repair) Apply() error {
	if err := p.apply(); err != nil {
		return fmt.Errorf("%s: %w", p.shown, err)
	}
	return nil
}

func (p *Repair) apply() error {
	dir, err := p.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, file := range p.files {
		err := dir.Edit(file.path, maxRepairedBytes, func(data []byte) ([]byte, error) {
			if !bytes.Equal(data, file.old) {
				return nil, errChanged
			}
			return file.now, nil
		})
		if err != nil {
			return err
		}
	}
	if p.entry != "" {
		if err := moveTo(filepath.Join(p.dir, p.entry), "SKILL.md"); err != nil {
			return err
		}
	}
	if p.name != "" {
		return moveTo(p.dir, p.name)
	}
	return nil
}

// moveTo renames what is at a path, where nothing has that name.
func moveTo(path, name string) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errChanged
	}
	return root.Rename(filepath.Base(path), name)
}
