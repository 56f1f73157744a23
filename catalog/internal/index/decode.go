package index

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/metadata"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// Decode reads an index that has a key. One from the future is damaged: a clock was
// set back, and states of then prove nothing. All texts of the index are parts of it.
func Decode(data, key string, now time.Time) (*Index, error) {
	if len(data) > MaxBytes || len(data) < headerBytes || data[:len(magic)] != magic {
		return nil, ErrDamaged
	}
	sum := crc32.NewIEEE()
	_, _ = io.Copy(sum, io.LimitReader(strings.NewReader(data[headerBytes:]), MaxBytes)) // in parts, not as one copy
	if sum.Sum32() != binary.LittleEndian.Uint32([]byte(data[len(magic):headerBytes])) {
		return nil, ErrDamaged
	}
	d := decoder{rest: data[headerBytes:]}
	x := &Index{Key: d.text()}
	if !d.failed && x.Key != key {
		return nil, ErrOther
	}
	x.Written = d.signed()
	if x.Written > now.UnixNano() {
		return nil, ErrDamaged
	}
	d.written = x.Written
	d.directory(&x.Root, 0)
	if d.failed || d.rest != "" || x.Root.Name != "" {
		return nil, ErrDamaged
	}
	return x, nil
}

// decoder takes parts from the front of rest. Where it failed, it returns what is
// zero from then on.
type decoder struct {
	rest    string
	written int64
	failed  bool
}

func (d *decoder) fail() { d.rest, d.failed = "", true }

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) text() string { return d.take(d.number()) }

func (d *decoder) number() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		c := d.octet()
		if shift == 63 && c > 1 {
			break
		}
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
	d.fail()
	return 0
}

// signed reads a number as [binary.AppendVarint] writes it.
func (d *decoder) signed() int64 {
	n := d.number()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) octet() byte {
	taken := d.take(1)
	if d.failed {
		return 0
	}
	return taken[0]
}

// count reads how many parts follow, of which each has at least so many bytes.
func (d *decoder) count(least int) int {
	n := d.number()
	if n > uint64(len(d.rest)/least) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) state() filestat.State {
	s := filestat.State{ID: filestat.ID{Device: d.number(), Inode: d.number()}, Size: d.signed(), Modified: d.signed(), Changed: d.signed()}
	if !settled(s, d.written) {
		d.fail()
	}
	return s
}

// leastDirectory, leastProblem and leastText are how many bytes such take.
const (
	leastDirectory = 4
	leastProblem   = 6
	leastText      = 1
)

func (d *decoder) directory(to *Directory, depth int) {
	to.Name = d.text()
	flags := d.octet()
	to.InSkill, to.HasTools = flags&inSkill != 0, flags&hasTools != 0
	if flags&isLink != 0 {
		if to.Target = d.text(); !filepath.IsAbs(to.Target) || filepath.Clean(to.Target) != to.Target {
			d.fail()
		}
	}
	if flags&isListed != 0 {
		to.State = d.state()
	}
	if flags&hasEntry != 0 {
		if to.Entry = d.text(); flags&isListed == 0 || !isName(to.Entry) {
			d.fail()
		}
	}
	if flags&hasDocument != 0 {
		if to.Document = d.document(); to.Entry == "" {
			d.fail()
		}
	}
	to.Directories = d.children(depth, false)
	to.Links = d.children(depth, true)
}

// children reads the directories in a directory, which are links or are not.
func (d *decoder) children(depth int, links bool) []Directory {
	n := d.count(leastDirectory)
	if n > 0 && depth == maxDepth {
		d.fail()
	}
	if n == 0 || d.failed {
		return nil
	}
	children := make([]Directory, n)
	for i := range children {
		child := &children[i]
		d.directory(child, depth+1)
		if d.failed || !isName(child.Name) || (child.Target != "") != links || i > 0 && children[i-1].Name >= child.Name {
			d.fail()
			return nil
		}
	}
	return children
}

// isName reports whether a text can be the name of one entry of a directory.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00"+string(filepath.Separator))
}

func (d *decoder) document() *Document {
	read := &Document{State: d.state()}
	copy(read.Sum[:], d.take(uint64(len(read.Sum))))
	if n := d.count(leastProblem); n > 0 {
		read.Problems = make([]problem.Problem, n)
		for i := range read.Problems {
			read.Problems[i] = d.problem()
		}
	}
	flags := d.octet()
	if flags&hasMetadata == 0 {
		return read
	}
	m := &metadata.Metadata{
		Name: d.text(), Description: d.text(), Compatibility: d.text(), Frontmatter: json.RawMessage(d.text()),
		UserOnly: flags&userOnly != 0, ModelOnly: flags&modelOnly != 0,
	}
	if flags&hasAllowedTools != 0 {
		m.AllowedTools = make([]string, d.count(leastText))
		for i := range m.AllowedTools {
			m.AllowedTools[i] = d.text()
		}
	}
	if !m.Valid() {
		d.fail()
	}
	read.Metadata = m
	return read
}

func (d *decoder) problem() problem.Problem {
	p := problem.Problem{Severity: problem.Severity(d.signed()), Rule: d.text(), Skill: d.text(), Message: d.text(), Line: d.position(), Column: d.position()}
	rule, known := problem.Find(p.Rule)
	if !known || p.Severity != problem.Warning && p.Severity != problem.Error {
		d.fail()
		return problem.Problem{}
	}
	p.Hint = rule.Hint
	return p
}

func (d *decoder) position() int {
	n := d.number()
	if n > math.MaxInt32 {
		d.fail()
		return 0
	}
	return int(n)
}
