package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// Of the TLS protocol (RFC 8446).
const (
	recordChangeCipherSpec = 20
	recordHandshake        = 22
	recordData             = 23
	recordHeaderBytes      = 5
	maxRecordBytes         = recordHeaderBytes + 16<<10 + 256
	maxHelloBytes          = 64 << 10
	messageServerHello     = 2
	extensionEncryptedName = 0xfe0d
)

// retryRandom is the random value of a ServerHello that asks for another
// ClientHello.
var retryRandom = []byte{
	0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
	0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
}

// unrecognizedName is TLS's alert for a client that names a host that is not here.
var unrecognizedName = []byte{21, 3, 3, 0, 2, 2, 112}

// checkHello reads the ClientHello that comes next, which stays to be read, and
// says what is wrong with the name that it asks for, if anything.
func checkHello(ctx context.Context, from *conn, name string) (Reason, string) {
	hello, err := peekHello(ctx, from)
	if err != nil {
		return NotTLS, "only TLS is granted, and something else was sent"
	}
	return checkName(hello, name)
}

func checkName(hello *tls.ClientHelloInfo, name string) (Reason, string) {
	switch {
	case slices.Contains(hello.Extensions, extensionEncryptedName):
		return HiddenName, "TLS hides which host it asks for (encrypted ClientHello), so that it cannot be held to the one that is granted"
	case hello.ServerName == "":
		return WrongName, "TLS does not name the host that it is for (SNI)"
	case !sameName(hello.ServerName, name):
		return WrongName, "TLS asks for another host (SNI) than the connection"
	}
	return "", ""
}

// errPeeked ends a handshake of which only the beginning is wanted.
var errPeeked = errors.New("egress: the ClientHello was read")

// peekHello reads a ClientHello, which stays to be read.
func peekHello(ctx context.Context, from *conn) (*tls.ClientHelloInfo, error) {
	_ = from.SetReadDeadline(time.Now().Add(firstTimeout))
	defer func() { _ = from.SetReadDeadline(time.Time{}) }()
	if first, err := from.peek(1); err != nil || first[0] != recordHandshake {
		return nil, errors.Join(errors.New("egress: no ClientHello"), err)
	}
	var hello *tls.ClientHelloInfo
	recorded := &recorder{conn: from}
	err := tls.Server(recorded, &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = info
		return nil, errPeeked
	}}).HandshakeContext(ctx)
	from.unread(recorded.taken)
	if hello == nil {
		return nil, err
	}
	return hello, nil
}

// recorder keeps what is read, up to a bound, and writes nothing.
type recorder struct {
	*conn
	taken []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	room := maxHelloBytes - len(r.taken)
	if room <= 0 {
		return 0, io.ErrShortBuffer
	}
	n, err := r.conn.Read(p[:min(len(p), room)])
	r.taken = append(r.taken, p[:n]...)
	return n, err
}

func (r *recorder) Write([]byte) (int, error) { return 0, net.ErrClosed }
func (r *recorder) Close() error              { return nil }

// maxBetween is how many records may come between two ClientHellos: those of data
// sent too early.
const maxBetween = 64

// sendHello sends on a ClientHello that was checked, and nothing after it: a
// server may ask for another ClientHello, which could name another host and is
// checked as well.
func (r *relay) sendHello(ctx context.Context, program, server *conn, name string) (Reason, string) {
	if reason, detail := r.sendOne(program, server); reason != "" || !asksAgain(server) {
		return reason, detail
	}
	retry, err := server.record()
	if err == nil {
		err = r.send(program, retry)
	}
	for range maxBetween {
		var next []byte
		if next, err = r.await(program, err); err != nil {
			return broken(err)
		}
		if next[0] != recordChangeCipherSpec && next[0] != recordData {
			if reason, detail := checkHello(ctx, program, name); reason != "" {
				return reason, detail
			}
			return r.sendOne(program, server)
		}
		if next, err = program.record(); err == nil {
			err = r.send(server, next)
		}
	}
	return NotTLS, "only TLS is granted, and something else was sent"
}

func (r *relay) sendOne(program, server *conn) (Reason, string) {
	hello := program.hello()
	if hello == nil {
		return NotTLS, "the beginning of TLS is not as programs send it"
	}
	return broken(r.send(server, hello))
}

// await returns the type of the record that comes next.
func (r *relay) await(program *conn, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	_ = program.SetReadDeadline(time.Now().Add(firstTimeout))
	return program.peek(1)
}

func broken(err error) (Reason, string) {
	if err == nil {
		return "", ""
	}
	return Unreachable, "the connection broke off"
}

// hello takes the ClientHello off what was received, of which it is the first. It
// returns nothing where that shares a record with another message.
func (c *conn) hello() []byte {
	const messageHeaderBytes = 4
	var message []byte
	for rest := c.ahead; len(rest) > recordHeaderBytes; {
		length := int(rest[3])<<8 + int(rest[4])
		if rest[0] != recordHandshake || len(rest) < recordHeaderBytes+length {
			return nil
		}
		message = append(message, rest[recordHeaderBytes:][:length]...)
		rest = rest[recordHeaderBytes+length:]
		if len(message) < messageHeaderBytes {
			continue
		}
		wanted := messageHeaderBytes + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
		switch {
		case len(message) == wanted:
			hello := c.ahead[:len(c.ahead)-len(rest)]
			c.ahead = rest
			return hello
		case len(message) > wanted:
			return nil
		}
	}
	return nil
}

// asksAgain reports whether what a server sends first is a HelloRetryRequest. All
// of it stays to be read.
func asksAgain(server *conn) bool {
	const upToRandom = recordHeaderBytes + 4 + 2
	_ = server.SetReadDeadline(time.Now().Add(idleTimeout))
	first, err := server.peek(recordHeaderBytes)
	if err != nil || first[0] != recordHandshake {
		return false
	}
	first, err = server.peek(upToRandom + len(retryRandom))
	return err == nil && first[recordHeaderBytes] == messageServerHello && bytes.Equal(first[upToRandom:], retryRandom)
}

// record reads one record of TLS.
func (c *conn) record() ([]byte, error) {
	header, err := c.peek(recordHeaderBytes)
	if err != nil {
		return nil, err
	}
	length := recordHeaderBytes + int(header[3])<<8 + int(header[4])
	if length > maxRecordBytes {
		return nil, errors.New("egress: a record of TLS that is too long")
	}
	return c.take(length)
}
