package docker

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// The engine keeps the order within each stream, but not between the two.
func TestReplyIsTakenInAnyOrder(t *testing.T) {
	t.Parallel()
	mark := []byte("the mark")
	report := protocol.Report{Code: 7}
	out := slices.Concat([]byte{protocol.Ack}, []byte("out"), mark, []byte("files"), mark)
	diagnostics := slices.Concat([]byte("err"), mark, report.Encode())
	for size := 1; size <= len(diagnostics); size++ {
		for first := range 3 {
			var stdout, stderr, files bytes.Buffer
			r := newReply(mark, &stdout, &stderr)
			r.expectFiles(mark, &files)
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
			if !errors.Is(err, errReplied) || stdout.String() != "out" || stderr.String() != "err" || files.String() != "files" || *r.report.report() != report {
				t.Errorf("in parts of %d: %v, %q, %q, %q", size, err, stdout.String(), stderr.String(), files.String())
			}
		}
	}
}

// What a container writes that has no order is nothing that a program wrote.
func TestReplyThatNeverBegins(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	r := newReply([]byte("the mark"), &stdout, &stderr)
	r.writeStderr([]byte("exec format error"))
	if _, err := r.writeStdout([]byte("hello")); !errors.Is(err, errNoReply) {
		t.Errorf("another program's output gives %v", err)
	}
	r.flush()
	if stdout.Len()+stderr.Len() > 0 || r.begun || string(r.early) != "exec format error" {
		t.Errorf("passed on: %q, %q", stdout.String(), stderr.String())
	}
}
