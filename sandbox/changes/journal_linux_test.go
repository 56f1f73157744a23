package changes

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
)

// journalOf is a journal of each kind of line.
func journalOf(t testing.TB, lines ...line) []byte {
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
	file := &state{Mode: 0o644, Size: 3, Digest: "sha256:00"}
	return journalOf(t,
		line{Begin: &begin{Held: "cs-0-0"}},
		line{Step: &step{N: 0, Op: opPut, Path: "a/b", New: file, Temp: ".skills-mcp-0"}},
		line{Temp: &temp{N: 0, Inode: 7}}, line{Done: &done{N: 0, New: file}},
		line{Step: &step{N: 1, Op: opRemove, Path: "c", Old: file, Temp: ".skills-mcp-1", Keep: "1"}}, line{Skip: &skip{N: 1}},
		line{Step: &step{N: 2, Op: opRmdir, Path: "d", Old: &state{Mode: fs.ModeDir | 0o755}}},
		line{Step: &step{N: 3, Op: opChmod, Path: "e", Old: file, New: file}},
		line{End: &end{}})
}

func TestJournalIsReadUpToWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	whole := wholeJournal(t)
	for cut := range len(whole) {
		l, err := parseJournal(whole[:cut])
		first := strings.IndexByte(string(whole), '\n')
		if (err == nil) != (cut >= first) {
			t.Errorf("%q: %v", whole[:cut], err)
		}
		if err == nil && l.end != nil && cut < len(whole)-1 {
			t.Errorf("%q has an end", whole[:cut])
		}
	}
}

func TestJournalThatNobodyWrote(t *testing.T) {
	t.Parallel()
	beginning := string(journalOf(t, line{Begin: &begin{}}))
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
		if _, err := parseJournal([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzParseJournal(f *testing.F) {
	f.Add(wholeJournal(f))
	f.Add([]byte(`{"begin":{}}` + "\n" + `{"step":null}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseJournal(data)
		if err != nil {
			return
		}
		for at, s := range l.steps {
			if s.N != at || !s.valid() {
				t.Errorf("step %d: %+v", at, s)
			}
			if d := l.done[s.N]; d != nil {
				_ = s.change()
				_ = s.reverse(d)
			}
		}
	})
}
