package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// sshExitGrace is how long ssh may take to end once its streams are closed,
	// and sshKillDelay how long once it was asked to; as long may what it has
	// started keep its standard error open.
	sshExitGrace = 2 * time.Second
	sshKillDelay = 2 * time.Second
)

// sshConn is a connection over the standard streams of an ssh. When the server
// dies, however that happens, these end, and with them ssh and what it has
// started on the other side.
type sshConn struct {
	process *exec.Cmd
	stop    context.CancelFunc // asks the process to end, and sees to it
	input   *os.File
	output  *os.File
	said    lastLine // on standard error; to be read when it has ended

	closing sync.Once
	ended   chan struct{}
	failure error // to be read when it has ended; nil if it has succeeded
}

var _ net.Conn = (*sshConn)(nil)

// startSSH starts an ssh. The caller calls wait, and closes ended.
func startSSH(arguments []string) (*sshConn, error) {
	stdin, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	output, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, input.Close())
	}
	defer stdout.Close()
	ctx, stop := context.WithCancel(context.Background())
	c := &sshConn{
		process: exec.CommandContext(ctx, "ssh", arguments...), stop: stop,
		input: input, output: output, ended: make(chan struct{}),
	}
	c.process.Stdin, c.process.Stdout, c.process.Stderr = stdin, stdout, &c.said
	// Asked first, it can end what it has started itself. Windows has no SIGTERM.
	c.process.Cancel = func() error { return c.process.Process.Signal(syscall.SIGTERM) }
	c.process.WaitDelay = sshKillDelay
	c.process.SysProcAttr = ownSession()
	if err := c.process.Start(); err != nil {
		stop()
		return nil, errors.Join(err, input.Close(), output.Close())
	}
	return c, nil
}

// wait returns when the process has ended.
func (c *sshConn) wait() {
	if err := c.process.Wait(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		c.failure = fmt.Errorf("ssh: %w: %q", err, c.said.String())
	}
	c.stop()
}

func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.output.Read(p)
	return n, c.cause(err)
}

func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.input.Write(p)
	return n, c.cause(err)
}

// cause returns what ssh says of the end of a stream, where it has failed.
func (c *sshConn) cause(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if errors.Is(err, os.ErrClosed) {
		return net.ErrClosed
	}
	select {
	case <-c.ended:
		if c.failure != nil {
			return c.failure
		}
	case <-time.After(sshExitGrace): // it has closed the stream and goes on
	}
	return err
}

// CloseWrite ends what the other side reads.
func (c *sshConn) CloseWrite() error { return c.input.Close() }

// Close ends both streams at once, and the process soon.
func (c *sshConn) Close() error {
	c.closing.Do(func() {
		c.output.Close() // first, so that who reads sees this and not ssh's end
		c.input.Close()  // it may be already
		time.AfterFunc(sshExitGrace, c.stop)
	})
	return nil
}

func (c *sshConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *sshConn) SetReadDeadline(t time.Time) error  { return c.output.SetReadDeadline(t) }
func (c *sshConn) SetWriteDeadline(t time.Time) error { return c.input.SetWriteDeadline(t) }

func (c *sshConn) LocalAddr() net.Addr  { return sshPeer{} }
func (c *sshConn) RemoteAddr() net.Addr { return sshPeer{} }

// sshPeer stands for either end: ssh alone knows where they are.
type sshPeer struct{}

func (sshPeer) Network() string { return "ssh" }
func (sshPeer) String() string  { return "ssh" }
