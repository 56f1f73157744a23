package steps

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// journalOf is a journal of each kind of line.
func journalOf(t testing.TB, lines ...Line) []byte {
	t.Helper()
	var text []byte
	for _, l := range lines {
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, data...), '\n')
	}
	return text
}

func wholeJournal(t testing.TB) []byte {
	file := &files.State{Mode: 0o644, Size: 3, Digest: "sha256:00"}
	return journalOf(t,
		Line{Begin: &Begin{Held: "cs-0-0"}},
		Line{Step: &Step{N: 0, Op: OpPut, Path: "a/b", New: file, Temp: ".skills-mcp-0"}},
		Line{Temp: &temp{N: 0, Inode: 7}}, Line{Done: &Done{N: 0, New: file}},
		Line{Step: &Step{N: 1, Op: OpRemove, Path: "c", Old: file, Temp: ".skills-mcp-1", Keep: "1"}}, Line{Skip: &skip{N: 1}},
		Line{Step: &Step{N: 2, Op: OpRmdir, Path: "d", Old: &files.State{Mode: fs.ModeDir | 0o755}}},
		Line{Step: &Step{N: 3, Op: OpChmod, Path: "e", Old: file, New: file}},
		Line{End: &End{}})
}

func TestJournalIsReadUpToWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	whole := wholeJournal(t)
	for cut := range whole {
		l, err := ParseJournal(whole[:cut])
		first := strings.IndexByte(string(whole), '\n')
		if (err == nil) != (cut >= first) {
			t.Errorf("%q: %v", whole[:cut], err)
		}
		if err == nil && l.End != nil && cut < len(whole)-1 {
			t.Errorf("%q has an end", whole[:cut])
		}
	}
}

func TestJournalThatNobodyWrote(t *testing.T) {
	t.Parallel()
	beginning := string(journalOf(t, Line{Begin: &Begin{}}))
	for _, bad := range []string{
		"", "\n", "{}\n", "garbage\n", beginning + "garbage\n" + beginning,
		beginning + `{"step":{"n":1,"op":"rmdir","path":"a","old":{}}}` + "\n",
		beginning + `{"step":{"n":0,"op":"rmdir","path":"../a","old":{}}}` + "\n",
		beginning + `{"step":{"n":0,"op":"rmdir","path":"/a","old":{}}}` + "\n",
		beginning + `{"step":{"n":0,"op":"put","path":"a","new":{},"temp":"../../x"}}` + "\n",
		beginning + `{"step":{"n":0,"op":"put","path":"a","new":{},"temp":""}}` + "\n",
		beginning + `{"step":{"n":0,"op":"remove","path":"a","old":{},"temp":"t","keep":"../../x"}}` + "\n",
		beginning + `{"step":{"n":0,"op":"burn","path":"a","old":{}}}` + "\n",
	} {
		if _, err := ParseJournal([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzParseJournal(f *testing.F) {
	f.Add(wholeJournal(f))
	f.Add([]byte(`{"begin":{}}` + "\n" + `{"step":null}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseJournal(data)
		if err != nil {
			return
		}
		for at, s := range l.Steps {
			if s.N != at || !s.valid() {
				t.Errorf("step %d: %+v", at, s)
			}
			if d := l.Done[s.N]; d != nil {
				_ = s.Reverse(d)
			}
		}
	})
}
