// Package wire moves values between two processes of one build. It does what
// encoding/gob would, but costs a process that lives for milliseconds nothing
// at its start. There is no version, no field name and no type on the wire.
package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// maxBytes bounds a message; the arguments of a program alone may have 2 MiB.
const maxBytes = 16 << 20

// ErrInvalid means that a message is too long or not what was sent.
var ErrInvalid = errors.New("invalid message")

// Message is what can be sent. Fields visits each of its fields, always in the
// same order.
type Message interface{ Fields(*Transfer) }

// Transfer writes the fields that it visits, or reads them.
type Transfer struct {
	reading bool
	data    []byte // written, or still to be read
	err     error
}

// Send writes a message.
func Send(to io.Writer, m Message) error {
	t := Transfer{data: make([]byte, 4, 512)}
	m.Fields(&t)
	if len(t.data)-4 > maxBytes {
		return ErrInvalid
	}
	binary.LittleEndian.PutUint32(t.data, uint32(len(t.data)-4))
	_, err := to.Write(t.data)
	return err
}

// Receive reads a message.
func Receive(from io.Reader, m Message) error {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > maxBytes {
		return ErrInvalid
	}
	t := Transfer{reading: true, data: make([]byte, size)}
	if _, err := io.ReadFull(from, t.data); err != nil {
		return err
	}
	m.Fields(&t)
	if t.err == nil && len(t.data) > 0 {
		t.err = ErrInvalid
	}
	return t.err
}

// take takes the next n bytes.
func (t *Transfer) take(n uint64) []byte {
	if t.err != nil || n > uint64(len(t.data)) {
		t.err = ErrInvalid
		return nil
	}
	taken := t.data[:n]
	t.data = t.data[n:]
	return taken
}

func (t *Transfer) uint64(v *uint64) {
	if !t.reading {
		t.data = binary.AppendUvarint(t.data, *v)
		return
	}
	n, size := binary.Uvarint(t.data)
	if t.take(uint64(max(size, 0))); size <= 0 {
		t.err = ErrInvalid
	}
	*v = n
}

// Int visits an integer of any kind.
func Int[T ~int | ~int64 | ~uint32 | ~uint64 | ~uintptr](t *Transfer, v *T) {
	wide := uint64(*v)
	t.uint64(&wide)
	if t.reading { // what is sent may be in use elsewhere
		*v = T(wide)
	}
}

// Bool visits a truth value.
func (t *Transfer) Bool(v *bool) {
	var n uint64
	if *v {
		n = 1
	}
	t.uint64(&n)
	if t.reading {
		*v = n == 1
	}
}

// String visits a string, of any bytes.
func (t *Transfer) String(v *string) {
	n := uint64(len(*v))
	t.uint64(&n)
	if t.reading {
		*v = string(t.take(n))
	} else {
		t.data = append(t.data, *v...)
	}
}

// Slice visits a slice, and each of its elements.
func Slice[T any](t *Transfer, v *[]T, element func(*T)) {
	n := uint64(len(*v))
	t.uint64(&n)
	if t.reading {
		if n > uint64(len(t.data)) { // an element has at least a byte
			t.err, n = ErrInvalid, 0
		}
		*v = make([]T, n)
	}
	for i := range *v {
		element(&(*v)[i])
	}
}

// Strings visits a slice of strings.
func (t *Transfer) Strings(v *[]string) { Slice(t, v, t.String) }
