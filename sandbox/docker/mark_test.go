package docker

import (
	"bytes"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// in gives a text in parts of a size.
func in(size int, text []byte) (parts [][]byte) {
	for ; len(text) > size; text = text[size:] {
		parts = append(parts, text[:size])
	}
	return append(parts, text)
}

// A stream is split at any byte, and programs write whatever they like.
func TestMarkIsFoundHoweverTheStreamIsSplit(t *testing.T) {
	t.Parallel()
	mark := []byte("aabaabaaab")
	report := protocol.Report{Code: 7, CPUNanos: 1}
	for _, said := range []string{"", "a", "text", "aabaabaaa", "aabaabaabb", "\x00\xffaab"} {
		stream := slices.Concat([]byte(said), mark, report.Encode(), []byte("what comes behind does not matter"))
		for size := 1; size <= len(stream); size++ {
			var passed bytes.Buffer
			behind := &suffix{length: protocol.ReportBytes}
			u := &untilMark{next: &passed, mark: mark, behind: behind}
			for _, part := range in(size, stream) {
				u.write(part)
			}
			u.flush()
			if got := behind.report(); !u.done() || passed.String() != said || got == nil || *got != report {
				t.Fatalf("%q in parts of %d: passed %q, report %+v", said, size, passed.String(), got)
			}
		}
	}
}

// Nothing is held back that cannot be the beginning of the mark, and nothing
// is lost of a stream without one.
func TestStreamWithoutMarkIsWhole(t *testing.T) {
	t.Parallel()
	var passed bytes.Buffer
	u := &untilMark{next: &passed, mark: []byte("mark"), behind: &suffix{}}
	for _, part := range []struct{ write, passed string }{
		{"line\n", "line\n"}, {"ma", "line\n"}, {"x", "line\nmax"}, {"mar", "line\nmax"},
	} {
		u.write([]byte(part.write))
		if passed.String() != part.passed {
			t.Errorf("after %q passed is %q", part.write, passed.String())
		}
	}
	u.flush()
	if passed.String() != "line\nmaxmar" || u.done() {
		t.Errorf("in the end passed is %q, the mark was found: %t", passed.String(), u.done())
	}
}
