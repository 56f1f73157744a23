package changes

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

const (
	defaultDiffFileBytes = 1 << 20
	defaultDiffBytes     = 256 << 10
)

// Diff returns how the held files differ from the user's as they are now.
func (x *Set) Diff(ctx context.Context, o DiffOptions) (Diff, error) {
	o.FileBytes = cmp.Or(max(o.FileBytes, 0), defaultDiffFileBytes)
	o.Bytes = cmp.Or(max(o.Bytes, 0), defaultDiffBytes)
	l, err := x.look(ctx, o.Judge, false)
	if err != nil {
		return Diff{}, err
	}
	defer l.close()
	if err := l.scan(); err != nil {
		return Diff{}, err
	}
	d := Diff{ID: l.id()}
	var text strings.Builder
	for _, v := range l.verdicts() {
		switch {
		case v.refused != "" || !selected(v.change.Path, o.Paths):
		case d.Omitted > 0:
			d.Omitted++
		case ctx.Err() != nil:
			return Diff{}, ctx.Err()
		default:
			shown := l.diff(v, o)
			if text.Len()+len(shown) > o.Bytes {
				d.Omitted++
				shown = wholeLines(shown, o.Bytes-text.Len())
			}
			text.WriteString(shown)
		}
	}
	d.Text = text.String()
	return d, nil
}

// wholeLines returns as many lines as fit into so many bytes.
func wholeLines(text string, most int) string {
	return text[:strings.LastIndexByte(text[:most], '\n')+1]
}

// side is one of the two files that are compared.
type side struct {
	state *files.State // nil is nothing
	tree  *files.Tree
	text  string
	lines bool // text can be shown
}

// diff compares one path.
func (l *look) diff(v verdict, o DiffOptions) string {
	old, now := side{state: v.item.Base, tree: l.lower}, side{state: v.item.Now, tree: l.upper}
	if v.item.Twofold() {
		if v.change.Kind == Deleted {
			now.state = nil
		} else {
			old.state = nil
		}
	}
	old.read(v.item.Path, o)
	now.read(v.item.Path, o)
	a, b := quote("a/"+v.item.Path), quote("b/"+v.item.Path)
	if old.isDir() && now.isDir() {
		return directoryText(quote(v.item.Path), old.state, now.state)
	}
	text := "diff --git " + a + " " + b + "\n" + modes(old.state, now.state)
	if old.state == nil {
		a = "/dev/null"
	}
	if now.state == nil {
		b = "/dev/null"
	}
	switch {
	case old.state != nil && now.state != nil && old.state.SameData(now.state):
		return text
	case old.lines && now.lines && (old.text != now.text || old.state == nil || now.state == nil): // else nothing of it is shown
		lines, err := udiff.ToUnified(a, b, old.text, udiff.Lines(old.text, now.text), udiff.DefaultContextLines)
		if err == nil {
			return text + lines
		}
	}
	return text + "Binary files " + a + " and " + b + " differ\n" + old.about("old") + now.about("new")
}

// isDir reports whether there is a directory, or nothing.
func (s *side) isDir() bool { return s.state == nil || s.state.Dir() }

// directoryText says what became of a directory. Git knows none: for its tools,
// the line is no part of the diff.
func directoryText(path string, old, now *files.State) string {
	switch {
	case old == nil:
		return fmt.Sprintf("new directory %s, mode %04o\n", path, now.Mode.Perm())
	case now == nil:
		return fmt.Sprintf("deleted directory %s\n", path)
	}
	return fmt.Sprintf("directory %s, old mode %04o, new mode %04o\n", path, old.Mode.Perm(), now.Mode.Perm())
}

// modes are git's lines about what a file is.
func modes(old, now *files.State) string {
	switch {
	case old == nil:
		return fmt.Sprintf("new file mode %s\n", gitMode(now))
	case now == nil:
		return fmt.Sprintf("deleted file mode %s\n", gitMode(old))
	case old.Mode != now.Mode:
		return fmt.Sprintf("old mode %s\nnew mode %s\n", gitMode(old), gitMode(now))
	}
	return ""
}

func gitMode(s *files.State) string {
	kind := map[fs.FileMode]string{0: "100", fs.ModeSymlink: "120"}[s.Mode.Type()]
	if s.Symlink() {
		return kind + "000"
	}
	return fmt.Sprintf("%s%03o", kind, s.Mode.Perm())
}

// read reads what can be shown. What is no longer as the state says is shown as
// it is.
func (s *side) read(p string, o DiffOptions) {
	most := o.FileBytes
	switch {
	case s.state == nil:
		s.lines = true
	case s.state.Symlink():
		s.text, s.lines = s.state.Link, true
	case s.state.Regular() && s.state.Size <= most && s.tree != nil:
		file, err := s.tree.File(p)
		if err != nil {
			return
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, most+1))
		if err == nil && int64(len(data)) <= most && utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
			s.text, s.lines = string(data), true
		}
	}
	if o.Show != nil {
		s.text = o.Show(s.text)
	}
}

// about describes what cannot be shown.
func (s *side) about(which string) string {
	if !s.state.Regular() {
		return ""
	}
	return fmt.Sprintf("%s: %d bytes, %s\n", which, s.state.Size, cmp.Or(s.state.Digest, "digest unknown"))
}

// quote writes a path as git does where it has characters that are not shown.
func quote(p string) string {
	if !strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' || r == '\\' }) {
		return p
	}
	return strconv.Quote(p)
}
