package docker

import (
	"bytes"
	"io"
	"slices"
	"testing"
)

// in returns a text in parts of a size.
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
	const report = "\x00\x07aab\xff"
	for _, said := range []string{"", "a", "text", "aabaabaaa", "aabaabaabb", "\x00\xffaab"} {
		whole := slices.Concat([]byte(said), mark, []byte(report), mark, []byte("what comes behind does not matter"))
		for size := 1; size <= len(whole); size++ {
			var passed, behind bytes.Buffer
			s := &stream{mark: mark, parts: []io.Writer{&passed, &behind}}
			for _, part := range in(size, whole) {
				s.write(part)
			}
			s.flush()
			if !s.done() || passed.String() != said || behind.String() != report {
				t.Fatalf("%q in parts of %d: passed %q, behind it %q", said, size, passed.String(), behind.String())
			}
		}
	}
}

// Nothing is held back that cannot be the beginning of the mark, and nothing
// is lost of a stream without one.
func TestStreamWithoutMarkIsWhole(t *testing.T) {
	t.Parallel()
	var passed bytes.Buffer
	s := &stream{mark: []byte("mark"), parts: []io.Writer{&passed}}
	for _, part := range []struct{ write, passed string }{
		{"line\n", "line\n"}, {"ma", "line\n"}, {"x", "line\nmax"}, {"mar", "line\nmax"},
	} {
		s.write([]byte(part.write))
		if passed.String() != part.passed {
			t.Errorf("after %q passed is %q", part.write, passed.String())
		}
	}
	s.flush()
	if passed.String() != "line\nmaxmar" || s.done() {
		t.Errorf("in the end passed is %q, the mark was found: %t", passed.String(), s.done())
	}
}
