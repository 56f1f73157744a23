//go:build amd64 || arm64

package main

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
	if err := resetOutput(); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString(order.Nonce); err != nil {
		return err
	}
	if sendFiles != nil {
		if err := sendFiles(os.Stdout); err != nil {
			return err
		}
	}
	if _, err := os.Stdout.WriteString(order.Nonce); err != nil {
		return err
	}
	if _, err := os.Stderr.WriteString(order.Nonce); err != nil {
		return err
	}
	if err := wire.Send(os.Stderr, &report); err != nil {
		return err
	}
	_, err := os.Stderr.WriteString(order.Nonce)
	return err
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
