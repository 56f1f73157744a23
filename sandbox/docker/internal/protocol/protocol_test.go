package protocol_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

func orders() []protocol.Order {
	return []protocol.Order{
		{Dir: "/", Argv: []string{}, Env: []string{}, Read: []string{}, Write: []string{}},
		{
			Nonce: "a nonce", Dir: "/workspace", StdinBytes: 1 << 40, Timeout: time.Hour,
			FileBytes: 1 << 41, OpenFiles: 1 << 20, Files: true, WorkspaceBytes: 1 << 42, WorkspaceFiles: 1 << 30,
			Argv: []string{"/bin/sh", "-c", "two\nlines", "", "\xff\xfe\x00", strings.Repeat("long ", 10_000)},
			Env:  []string{"PATH=/bin", "UNICODE=größe ☃"},
			Read: []string{"/srv/a", "/srv/b\n"}, Write: []string{"/home/me/project"},
		},
	}
}

func encode(t testing.TB, m wire.Message) []byte {
	t.Helper()
	var stream bytes.Buffer
	if err := wire.Send(&stream, m); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}

func TestOrderIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, order := range orders() {
		stream := bytes.NewReader(append(encode(t, &order), "input"...))
		var got protocol.Order
		if err := wire.Receive(stream, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(order, got); diff != "" {
			t.Errorf("order (-written +read):\n%s", diff)
		}
		if rest, _ := io.ReadAll(stream); string(rest) != "input" {
			t.Errorf("left for the program is %q", rest)
		}
	}
}

func TestOrderThatIsCutIsRefused(t *testing.T) {
	t.Parallel()
	whole := encode(t, &orders()[1])
	for _, n := range []int{0, 1, 3, 4, 20, len(whole) - 1} {
		var order protocol.Order
		if err := wire.Receive(bytes.NewReader(whole[:n]), &order); err == nil {
			t.Errorf("%d bytes give %v", n, order)
		}
	}
}

func TestReportIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	report := protocol.Report{
		Ending: reaper.Ending{Signal: "SIGSEGV", Killed: true, CPUTime: 1 << 40, LeftBehind: []string{"a b", "c"}, LeftBehindOmitted: 1},
		Errno:  2, NotStored: true, OverQuota: true, PeakMemoryBytes: 1 << 41, OOMKills: 3, MemoryBytes: 1<<63 - 1, Processes: 4,
	}
	encoded := encode(t, &report)
	if len(encoded) > protocol.MaxReportBytes {
		t.Errorf("the report has %d bytes", len(encoded))
	}
	var got protocol.Report
	if err := wire.Receive(bytes.NewReader(encoded), &got); err != nil || !cmp.Equal(got, report) {
		t.Errorf("the report reads %+v, %v", got, err)
	}
	if err := wire.Receive(bytes.NewReader(encoded[:len(encoded)-1]), &got); err == nil {
		t.Error("a report that is cut was read")
	}
}

func FuzzReadOrder(f *testing.F) {
	seeds := orders()
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, order := range seeds {
		f.Add(encode(f, &order))
	}
	f.Add([]byte{30, 0, 0, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, stream []byte) {
		var order, again protocol.Order
		if wire.Receive(bytes.NewReader(stream), &order) != nil {
			return
		}
		err := wire.Receive(bytes.NewReader(encode(t, &order)), &again)
		if diff := cmp.Diff(order, again); err != nil || diff != "" {
			t.Errorf("written again it reads otherwise: %v\n%s", err, diff)
		}
	})
}
