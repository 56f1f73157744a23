package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// frame is one part of an output.
func frame(stream byte, content string) string {
	n := len(content)
	return string([]byte{stream, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + content
}

func TestStreamsAreTakenApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", copyBytes/4)
	output := frame(1, "out") + frame(2, "err") + frame(1, "") + frame(1, long) + frame(2, "end")
	for _, reader := range []io.Reader{strings.NewReader(output), iotest.OneByteReader(strings.NewReader(output)), iotest.DataErrReader(strings.NewReader(output))} {
		var stdout, stderr bytes.Buffer
		if err := (&Streams{output: reader}).CopyTo(&stdout, &stderr); err != nil {
			t.Error(err)
		}
		if stdout.String() != "out"+long || stderr.String() != "errend" {
			t.Errorf("%d bytes and %q", stdout.Len(), stderr.String())
		}
	}
}

// What is there of a frame is passed on, however long it says to be.
func TestFramesAreNotCollected(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"cut off":        "\x01\x00\x00\x00\xff\xff\xff\xffsome",
		"header cut":     frame(1, "some") + "\x01\x00",
		"no such":        frame(1, "some") + frame(4, "other"),
		"engine's":       frame(1, "some") + frame(3, "no such container"),
		"no frame":       frame(1, "some") + "HTTP/1.1 500 Internal Server Error",
		"standard input": frame(1, "some") + frame(0, "other"),
	} {
		var stdout, stderr bytes.Buffer
		err := (&Streams{output: strings.NewReader(output)}).CopyTo(&stdout, &stderr)
		if !errors.Is(err, errFrame) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if stdout.String() != "some" || stderr.Len() > 0 {
			t.Errorf("%s: %q, %q", name, stdout.String(), stderr.String())
		}
	}
}
