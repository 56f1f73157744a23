//go:build amd64 || arm64

package entry

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

func acknowledge() error {
	_, err := os.Stdout.Write([]byte{protocol.Ack})
	return err
}

// reply writes what comes behind the program's own output.
func reply(order protocol.Order, report protocol.Report, sendFiles func(io.Writer) error) error {
	mark := func(stream *os.File) func() error {
		return func() error {
			_, err := stream.WriteString(order.Nonce)
			return err
		}
	}
	return inOrder(resetOutput,
		mark(os.Stdout), func() error { return sendFiles(os.Stdout) }, mark(os.Stdout),
		mark(os.Stderr), func() error { return wire.Send(os.Stderr, &report) }, mark(os.Stderr))
}

// resetOutput undoes what a program has done to the streams that it shares
// with this process. Node.js, for one, has them not wait for whoever reads
// slowly, and leaves it so when it is killed.
func resetOutput() error {
	for _, stream := range []int{unix.Stdout, unix.Stderr} {
		if _, err := unix.FcntlInt(uintptr(stream), unix.F_SETFL, 0); err != nil {
			return err
		}
	}
	return nil
}
