package protocol_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

func orders() []protocol.Order {
	return []protocol.Order{
		{Dir: "/"},
		{
			Nonce: [16]byte{1, 2, 3}, Dir: "/workspace", StdinBytes: 1 << 40, Deadline: time.Hour,
			FileBytes: 1 << 41, OpenFiles: 1 << 20, Files: true, WorkspaceBytes: 1 << 42, WorkspaceFiles: 1 << 30,
			Argv: []string{"/bin/sh", "-c", "two\nlines", "", "\xff\xfe\x00", strings.Repeat("long ", 10_000)},
			Env:  []string{"PATH=/bin", "UNICODE=größe ☃"},
		},
	}
}

func TestOrderIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, order := range orders() {
		stream := bytes.NewReader(append(order.Encode(), "input"...))
		got, err := protocol.ReadOrder(stream)
		if err != nil {
			t.Fatal(err)
		}
		// No list and an empty one are the same.
		if diff := cmp.Diff(order.Encode(), got.Encode()); diff != "" || got.Dir != order.Dir || got.Deadline != order.Deadline {
			t.Errorf("order (-written +read):\n%s", diff)
		}
		if rest, _ := io.ReadAll(stream); string(rest) != "input" {
			t.Errorf("left for the program is %q", rest)
		}
	}
}

func TestOrderThatIsCutIsRefused(t *testing.T) {
	t.Parallel()
	whole := orders()[1].Encode()
	for _, n := range []int{0, 1, 3, 4, 20, len(whole) - 1} {
		if order, err := protocol.ReadOrder(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d bytes give %v", n, order)
		}
	}
}

func TestReportIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	report := protocol.Report{CPUNanos: 1 << 40, PeakMemoryBytes: 1 << 41, OOMKills: 3, Killed: true}
	report.SetSignal("SIGSEGV")
	encoded := report.Encode()
	if len(encoded) != protocol.ReportBytes {
		t.Errorf("the report has %d bytes, not %d", len(encoded), protocol.ReportBytes)
	}
	got, err := protocol.DecodeReport(encoded)
	if err != nil || got != report || got.Signal() != "SIGSEGV" || got.Code != -1 {
		t.Errorf("the report reads %+v, %v", got, err)
	}
	if _, err := protocol.DecodeReport(encoded[1:]); err == nil {
		t.Error("a report that is cut was read")
	}
}

func FuzzReadOrder(f *testing.F) {
	seeds := orders()
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, order := range seeds {
		f.Add(order.Encode())
	}
	f.Add([]byte{0, 0, 0, 30, 1, 2, 3})
	f.Fuzz(func(t *testing.T, stream []byte) {
		order, err := protocol.ReadOrder(bytes.NewReader(stream))
		if err != nil {
			return
		}
		again, err := protocol.ReadOrder(bytes.NewReader(order.Encode()))
		if diff := cmp.Diff(order, again); err != nil || diff != "" {
			t.Errorf("written again it reads otherwise: %v\n%s", err, diff)
		}
	})
}
