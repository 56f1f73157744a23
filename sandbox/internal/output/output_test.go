package output_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
)

// TestStream writes streams in pieces of all sizes and compares what is kept
// with what should be.
func TestStream(t *testing.T) {
	t.Parallel()
	data := []byte(strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 3))[:100]
	for _, keep := range []int{0, 1, 2, 49, 50, 51, 99, 100, 101} {
		for _, piece := range []int{1, 2, 7, 33, 50, 99, 100} {
			checkStream(t, data, keep, 60, piece)
		}
	}
}

func FuzzStream(f *testing.F) {
	seeds := []struct {
		data               string
		keep, limit, piece uint8
	}{{"", 0, 0, 1}, {"abc", 2, 9, 2}, {"abcdefghij", 4, 5, 3}, {"abcdefghij", 1, 10, 10}, {"abcdefghij", 9, 2, 4}}
	for _, s := range seeds {
		f.Add([]byte(s.data), s.keep, s.limit, s.piece)
	}
	f.Fuzz(func(t *testing.T, data []byte, keep, limit, piece uint8) {
		checkStream(t, data, int(keep), int(limit), max(1, int(piece)))
	})
}

func checkStream(t *testing.T, data []byte, keep, limit, piece int) {
	t.Helper()
	exceeded, file := 0, filepath.Join(t.TempDir(), "spill")
	stream := output.NewStream(output.Config{
		Keep:     int64(keep),
		Limit:    int64(limit),
		Exceeded: func() { exceeded++ },
		Spill: func() (*os.File, string, error) {
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return f, "path", err
		},
	})
	for rest := data; len(rest) > 0; {
		part := bytes.Clone(rest[:min(piece, len(rest))])
		if n, err := stream.Write(part); n != len(part) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
		clear(part) // the caller's to reuse
		rest = rest[len(part):]
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	got := stream.Output()
	want, head, path := data, len(data), ""
	if len(data) > keep {
		head, path = keep/2, "path"
		want = append(bytes.Clone(data[:head]), data[len(data)-(keep-head):]...)
	}
	if !bytes.Equal(got.Data, want) || got.Head != head || got.Total != int64(len(data)) || got.Spill != path {
		t.Errorf("keep %d, pieces of %d: %q, head %d of %d, spill %q, want %q, %d", keep, piece, got.Data, got.Head, got.Total, got.Spill, want, head)
	}
	if past := len(data) > limit; past != stream.Exceeded() || past != (exceeded == 1) || exceeded > 1 {
		t.Errorf("limit %d of %d: exceeded is %v, called %d times", limit, len(data), stream.Exceeded(), exceeded)
	}
	if path != "" {
		if saved, err := os.ReadFile(file); err != nil || !bytes.Equal(saved, data[:min(limit, len(data))]) {
			t.Errorf("saved %q, %v", saved, err)
		}
	}
}

// A disk that fails costs the copy, not the run.
func TestStreamWithoutSpill(t *testing.T) {
	t.Parallel()
	broken := errors.New("no space left")
	for name, spill := range map[string]func() (*os.File, string, error){
		"cannot be made": func() (*os.File, string, error) { return nil, "", broken },
		"cannot be written": func() (*os.File, string, error) {
			file, err := os.Open(os.DevNull) // for reading only
			return file, "path", err
		},
	} {
		stream := output.NewStream(output.Config{Keep: 4, Limit: 100, Spill: spill})
		for range 3 {
			if n, err := stream.Write([]byte("abcdef")); n != 6 || err != nil {
				t.Fatalf("%s: Write: %d, %v", name, n, err)
			}
		}
		if err := stream.Close(); err == nil {
			t.Errorf("%s: Close tells nothing", name)
		}
		if out := stream.Output(); string(out.Data) != "abef" || out.Spill != "" || out.Total != 18 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// reported writes pieces to a stream and returns the line that is reported. No
// piece but the last may end a line that counts.
func reported(t *testing.T, pieces ...string) string {
	t.Helper()
	heard := make(chan string, 1)
	lines := output.ReportLines(func(line string) { heard <- line })
	defer lines.Stop()
	stream := output.NewStream(output.Config{Keep: 1 << 20, Limit: 1 << 20, Lines: lines})
	for _, piece := range pieces {
		if _, err := stream.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case line := <-heard:
		return line
	case <-time.After(30 * time.Second):
		t.Fatalf("%q: nothing is reported", pieces)
		return ""
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want   string
		pieces []string
	}{
		{"a", []string{"a\n"}},
		{"b", []string{"a\nb\nnot whole"}},
		{"whole at last", []string{"whole ", "at ", "last\n"}},
		{"10%", []string{" 5%\r10%\r"}},
		{"crlf", []string{"crlf\r\n"}},
		{"before blank lines", []string{"before blank lines\n\n  \n"}},
		{"after", []string{"\n\nafter\n"}},
		{"bad \ufffd byte", []string{"bad \xff byte\n"}},
		{strings.Repeat("x", 1024), []string{strings.Repeat("x", 700), strings.Repeat("x", 700) + "\nrest"}},
		{strings.Repeat("y", 1024), []string{"first\n" + strings.Repeat("y", 5000) + "\n"}},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if got := reported(t, c.pieces...); got != c.want {
				t.Errorf("%q gives %q, want %q", c.pieces, got, c.want)
			}
		})
	}
}
