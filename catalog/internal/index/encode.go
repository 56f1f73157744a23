package index

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// An index on disk begins with this, and the sum of what follows.
const magic = "skills-mcp index 1\n"

const headerBytes = len(magic) + crc32.Size

// What a directory and a document have.
const (
	isLink = 1 << iota
	inSkill
	isListed
	hasEntry
	hasTools
	hasDocument
)

const (
	hasMetadata = 1 << iota
	hasAllowedTools
	userOnly
	modelOnly
)

// Encode returns what is written to disk.
func (x *Index) Encode() []byte {
	e := encoder{make([]byte, headerBytes, 1<<20)}
	e.text(x.Key)
	e.signed(x.Written)
	e.directory(&x.Root)
	return seal(e.to)
}

// seal fills in the header.
func seal(encoded []byte) []byte {
	copy(encoded, magic)
	binary.LittleEndian.PutUint32(encoded[len(magic):], crc32.ChecksumIEEE(encoded[headerBytes:]))
	return encoded
}

type encoder struct{ to []byte }

func (e *encoder) number(n uint64) { e.to = binary.AppendUvarint(e.to, n) }
func (e *encoder) signed(n int64)  { e.to = binary.AppendVarint(e.to, n) }
func (e *encoder) text(s string)   { e.number(uint64(len(s))); e.to = append(e.to, s...) }

func (e *encoder) state(s filestat.State) {
	e.number(s.Device)
	e.number(s.Inode)
	e.signed(s.Size)
	e.signed(s.Modified)
	e.signed(s.Changed)
}

// flags adds those of bits that are set.
func (e *encoder) flags(set map[byte]bool) {
	var flags byte
	for bit, is := range set {
		if is {
			flags |= bit
		}
	}
	e.to = append(e.to, flags)
}

func (e *encoder) directory(d *Directory) {
	e.text(d.Name)
	listed := d.State != (filestat.State{})
	e.flags(map[byte]bool{
		isLink: d.Target != "", inSkill: d.InSkill, isListed: listed, hasEntry: d.Entry != "",
		hasTools: d.HasTools, hasDocument: d.Document != nil,
	})
	if d.Target != "" {
		e.text(d.Target)
	}
	if listed {
		e.state(d.State)
	}
	if d.Entry != "" {
		e.text(d.Entry)
	}
	if d.Document != nil {
		e.document(d.Document)
	}
	for _, children := range [][]Directory{d.Directories, d.Links} {
		e.number(uint64(len(children)))
		for i := range children {
			e.directory(&children[i])
		}
	}
}

func (e *encoder) document(d *Document) {
	e.state(d.State)
	e.to = append(e.to, d.Sum[:]...)
	e.number(uint64(len(d.Problems)))
	for _, p := range d.Problems {
		e.problem(p)
	}
	m := d.Metadata
	if m == nil {
		e.flags(nil)
		return
	}
	e.flags(map[byte]bool{hasMetadata: true, hasAllowedTools: m.AllowedTools != nil, userOnly: m.UserOnly, modelOnly: m.ModelOnly})
	e.text(m.Name)
	e.text(m.Description)
	e.text(m.Compatibility)
	e.text(string(m.Frontmatter))
	if m.AllowedTools != nil {
		e.number(uint64(len(m.AllowedTools)))
		for _, tool := range m.AllowedTools {
			e.text(tool)
		}
	}
}

func (e *encoder) problem(p problem.Problem) {
	e.signed(int64(p.Severity))
	e.text(p.Rule)
	e.text(p.Skill)
	e.text(p.Message)
	e.number(uint64(p.Line))
	e.number(uint64(p.Column))
}
