package wire_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

type message struct {
	Name  string
	Count int
	Size  uint64
	Set   bool
	Words []string
	Parts []part
}

type part struct {
	Text string
	Last bool
}

func (m *message) Fields(t *wire.Transfer) {
	t.String(&m.Name)
	wire.Int(t, &m.Count)
	wire.Int(t, &m.Size)
	t.Bool(&m.Set)
	t.Strings(&m.Words)
	wire.Slice(t, &m.Parts, func(p *part) {
		t.String(&p.Text)
		t.Bool(&p.Last)
	})
}

var sample = message{
	Name: "any \xff\x00 bytes", Count: -3, Size: 1 << 63, Set: true,
	Words: []string{"", "a b"}, Parts: []part{{"one", false}, {"two", true}},
}

func encode(t testing.TB, m message) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := wire.Send(&buf, &m); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []message{sample, {Words: []string{}, Parts: []part{}}} {
		var got message
		if err := wire.Receive(bytes.NewReader(encode(t, want)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-sent +received):\n%s", diff)
		}
	}
}

func TestReceiveRefusesWhatIsCutOffOrTooLong(t *testing.T) {
	t.Parallel()
	whole := encode(t, sample)
	for n := range whole {
		var got message
		if err := wire.Receive(bytes.NewReader(whole[:n]), &got); err == nil {
			t.Errorf("%d of %d bytes were taken for a message", n, len(whole))
		}
	}
	var got message
	if err := wire.Receive(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff}), &got); !errors.Is(err, wire.ErrInvalid) {
		t.Errorf("4 GiB are taken: %v", err)
	}
	if err := wire.Receive(bytes.NewReader(nil), &got); !errors.Is(err, io.EOF) {
		t.Errorf("nothing is taken as %v", err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(encode(f, sample))
	f.Add(encode(f, message{}))
	f.Add([]byte{8, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{10, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var got message
		if wire.Receive(bytes.NewReader(data), &got) != nil {
			return
		}
		var again message
		if err := wire.Receive(bytes.NewReader(encode(t, got)), &again); err != nil || !cmp.Equal(got, again) {
			t.Errorf("%+v became %+v, %v", got, again, err)
		}
	})
}
