package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Streams are a container's standard streams.
type Streams struct {
	Conn   io.WriteCloser // its input; Close ends everything
	output io.Reader      // both outputs, multiplexed
}

// frameHeader is the length of what is before each part of an output: the
// number of the stream, three zeros and the length of the part.
const frameHeader = 8

// copyBytes is how much of a frame is read at once. Engines decide on the
// length of frames, and may not decide on the server's memory.
const copyBytes = 32 << 10

// errFrame means that an engine sends what is no output.
var errFrame = errors.New("malformed output of a container")

// CopyTo copies the outputs until the container has ended, the connection is
// closed or a writer fails.
func (s *Streams) CopyTo(stdout, stderr io.Writer) error {
	var header [frameHeader]byte
	buffer := make([]byte, copyBytes)
	for {
		if _, err := io.ReadFull(s.output, header[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		to := stdout
		switch header[0] {
		case 1:
		case 2:
			to = stderr
		default: // 3 is an error of the engine's
			return fmt.Errorf("%w: stream %d", errFrame, header[0])
		}
		frame := io.LimitedReader{R: s.output, N: int64(binary.BigEndian.Uint32(header[4:]))}
		if _, err := io.CopyBuffer(to, &frame, buffer); err != nil {
			return err
		}
		if frame.N > 0 {
			return io.ErrUnexpectedEOF
		}
	}
}
