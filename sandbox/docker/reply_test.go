package docker

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// The engine keeps the order within each stream, but not between the two.
func TestReplyIsTakenInAnyOrder(t *testing.T) {
	t.Parallel()
	mark := []byte("the mark")
	report := protocol.Report{Ending: reaper.Ending{Code: 7, LeftBehind: []string{"sleep"}}, PeakMemoryBytes: 1}
	var encoded bytes.Buffer
	if err := wire.Send(&encoded, &report); err != nil {
		t.Fatal(err)
	}
	out := slices.Concat([]byte{protocol.Ack}, []byte("out"), mark, []byte("files"), mark)
	diagnostics := slices.Concat([]byte("err"), mark, encoded.Bytes(), mark)
	for size := 1; size <= len(diagnostics); size++ {
		for first := range 3 {
			var stdout, stderr, files bytes.Buffer
			r := newReply(string(mark), func() {}, &stdout, &stderr, &files)
			outs, errs := in(size, out), in(size, diagnostics)
			var err error
			for turn := first; len(outs)+len(errs) > 0; turn++ {
				if err != nil {
					t.Fatalf("ended by %v before the end", err)
				}
				if len(errs) > 0 && (first == 0 || len(outs) == 0 || turn%2 == 0) {
					_, err = r.writeStderr(errs[0])
					errs = errs[1:]
				} else {
					_, err = r.writeStdout(outs[0])
					outs = outs[1:]
				}
			}
			if !errors.Is(err, errReplied) || stdout.String() != "out" || stderr.String() != "err" || files.String() != "files" || !cmp.Equal(r.close(), &report) {
				t.Errorf("in parts of %d: %v, %q, %q, %q", size, err, stdout.String(), stderr.String(), files.String())
			}
		}
	}
}

// What a container writes that has no order is nothing that a program wrote.
func TestReplyThatNeverBegins(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	r := newReply("the mark", func() {}, &stdout, &stderr, io.Discard)
	r.writeStderr([]byte("exec format error"))
	if _, err := r.writeStdout([]byte("hello")); !errors.Is(err, errNoReply) {
		t.Errorf("another program's output gives %v", err)
	}
	if report := r.close(); report != nil {
		t.Errorf("its report is %+v", report)
	}
	if stdout.Len()+stderr.Len() > 0 || r.acked.Load() || string(r.early) != "exec format error" {
		t.Errorf("passed on: %q, %q", stdout.String(), stderr.String())
	}
}

// A report that never ends, or is none, is not waited for.
func TestReportThatIsNone(t *testing.T) {
	t.Parallel()
	for _, report := range []string{"", "some", "\xff\xff\xff\xff", "\x02\x00\x00\x00\x00\x00"} {
		r := newReply("the mark", func() {}, io.Discard, io.Discard, io.Discard)
		r.writeStdout([]byte{protocol.Ack})
		r.writeStderr([]byte("the mark" + report + "the mark"))
		if got := r.close(); got != nil {
			t.Errorf("%q is %+v", report, got)
		}
	}
	r := newReply("the mark", func() {}, io.Discard, io.Discard, io.Discard)
	r.writeStdout([]byte{protocol.Ack})
	r.writeStderr([]byte("the mark"))
	if _, err := r.writeStderr(make([]byte, protocol.MaxReportBytes+1)); !errors.Is(err, errNoReply) {
		t.Errorf("one that is too long gives %v", err)
	}
}
