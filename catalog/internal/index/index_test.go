package index_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/catalog/internal/index"
	"github.com/skills-mcp/skills-mcp/catalog/internal/metadata"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

var written = time.Unix(2_000_000_000, 0)

func state(inode uint64) filestat.State {
	old := written.Add(-time.Hour).UnixNano()
	return filestat.State{ID: filestat.ID{Device: 1 << 40, Inode: inode}, Size: 4096, Modified: old, Changed: old + 1}
}

func sample() *index.Index {
	rule := problem.Lookup("unknown-key")
	document := &index.Document{
		State: state(3), Sum: [32]byte{1, 2, 3},
		Problems: []problem.Problem{{Severity: problem.Warning, Rule: rule.Name, Hint: rule.Hint, Skill: "a", Message: "the key", Line: 3, Column: 1}},
		Metadata: &metadata.Metadata{
			Name: "a", Description: "Does it – всё.", Compatibility: "any", AllowedTools: []string{"Read", ""}, UserOnly: true,
			Frontmatter: json.RawMessage(`{"name":"a"}`),
		},
	}
	broken := &index.Document{State: state(5)}
	none := &index.Document{State: state(6), Metadata: &metadata.Metadata{Name: "n", Description: "x", AllowedTools: []string{}, ModelOnly: true, Frontmatter: json.RawMessage(`{}`)}}
	return &index.Index{Key: "key", Written: written.UnixNano(), Root: index.Directory{
		Directories: []index.Directory{
			{Name: "a", State: state(2), Entry: "SKILL.md", HasTools: true, Document: document, Directories: []index.Directory{{Name: "in", InSkill: true, State: state(9)}}},
			{Name: "b", State: state(4), Entry: "skill.md", Document: broken},
			{Name: "bare", Directories: []index.Directory{{Name: "n", State: state(7), Entry: "SKILL.md", Document: none}}},
			{Name: "c\xff", State: state(8), Entry: "SKILL.md"},
		},
		Links: []index.Directory{{Name: "a", Target: "/elsewhere", State: state(10)}},
	}}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	got, err := index.Decode(string(sample().Encode()), "key", written)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	encoded := string(sample().Encode())
	if _, err := index.Decode(encoded, "other", written); !errors.Is(err, index.ErrOther) {
		t.Errorf("of another key: %v", err)
	}
	if _, err := index.Decode(encoded, "key", written.Add(-time.Second)); !errors.Is(err, index.ErrDamaged) {
		t.Errorf("when the clock was set back: %v", err)
	}
	for i := range encoded {
		changed := []byte(encoded)
		changed[i] ^= 0x10
		for _, data := range []string{string(changed), encoded[:i]} {
			if _, err := index.Decode(data, "key", written); !errors.Is(err, index.ErrDamaged) {
				t.Fatalf("changed or cut at %d: %v", i, err)
			}
		}
	}
}

// TestLies: what no scan writes is not read.
func TestLies(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(*index.Index){
		"a name with a separator": func(x *index.Index) { x.Root.Directories[0].Name = "../a" },
		"the directory above":     func(x *index.Index) { x.Root.Directories[0].Directories[0].Name = ".." },
		"no name":                 func(x *index.Index) { x.Root.Directories[0].Name = "" },
		"no order":                func(x *index.Index) { x.Root.Directories[1].Name = "a" },
		"an entry elsewhere":      func(x *index.Index) { x.Root.Directories[0].Entry = "../SKILL.md" },
		"an entry of no listing":  func(x *index.Index) { x.Root.Directories[0].State = filestat.State{} },
		"a link among directories": func(x *index.Index) {
			x.Root.Directories[0].Target = "/elsewhere"
		},
		"a relative link":      func(x *index.Index) { x.Root.Links[0].Target = "elsewhere" },
		"a state too new":      func(x *index.Index) { x.Root.Directories[0].State.Changed = written.UnixNano() },
		"an unknown rule":      func(x *index.Index) { x.Root.Directories[0].Document.Problems[0].Rule = "none" },
		"a name of two lines":  func(x *index.Index) { x.Root.Directories[0].Document.Metadata.Name = "a\nb" },
		"frontmatter not JSON": func(x *index.Index) { x.Root.Directories[0].Document.Metadata.Frontmatter = json.RawMessage("{") },
		"a deep directory": func(x *index.Index) {
			d := &x.Root
			for range 1000 {
				d.Directories = []index.Directory{{Name: "a"}}
				d = &d.Directories[0]
			}
		},
	} {
		x := sample()
		lie(x)
		if _, err := index.Decode(string(x.Encode()), "key", written); !errors.Is(err, index.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecode: whatever is read can be written, and read again.
func FuzzDecode(f *testing.F) {
	f.Add(sample().Encode()[23:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		x, err := index.Decode(string(index.Seal(payload)), "key", written)
		if err != nil {
			return
		}
		again, err := index.Decode(string(x.Encode()), "key", written)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x, again); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}
