package consent

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// lifetime is how long a question can be answered.
const lifetime = 10 * time.Minute

// mark stands for something that a state is bound to. Without the key nobody
// can tell what.
type mark [16]byte

// state is what a client gives back with an answer: which question it was, and
// whose. It is authenticated, and no secret.
type state struct {
	nonce   mark
	expires int64 // seconds of Unix time
	caller  mark
	call    mark // the tool and its arguments
	asked   mark // the question
	granted []mark
}

// maxGranted bounds the questions that one call was answered before.
const maxGranted = 8

// sealer makes states that only the same process takes.
type sealer struct {
	process mark // public, to tell a state of another process from a forged one
	key     [32]byte
}

func newSealer() *sealer {
	s := &sealer{}
	_, _ = rand.Read(s.process[:]) // which never fails
	_, _ = rand.Read(s.key[:])
	return s
}

func (s *sealer) mac(parts ...[]byte) []byte {
	sum := hmac.New(sha256.New, s.key[:])
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		sum.Write(length[:])
		sum.Write(part)
	}
	return sum.Sum(nil)
}

// mark returns what stands for texts, apart from all other texts and labels.
func (s *sealer) mark(label string, texts ...string) (m mark) {
	parts := [][]byte{[]byte("mark"), []byte(label)}
	for _, text := range texts {
		parts = append(parts, []byte(text))
	}
	copy(m[:], s.mac(parts...))
	return m
}

// seal writes a state as a client gets it.
func (s *sealer) seal(st state) string {
	body := append([]byte(nil), s.process[:]...)
	body = append(body, st.nonce[:]...)
	body = binary.BigEndian.AppendUint64(body, uint64(st.expires))
	for _, m := range append([]mark{st.caller, st.call, st.asked}, st.granted...) {
		body = append(body, m[:]...)
	}
	return base64.RawURLEncoding.EncodeToString(append(body, s.mac([]byte("state"), body)...))
}

// fixedBytes is the length of a state in which nothing was granted before.
const fixedBytes = 5*len(mark{}) + 8 + sha256.Size

// open reads a state that seal wrote.
func (s *sealer) open(text string) (st state, _ error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	extra := len(raw) - fixedBytes
	if err != nil || extra < 0 || extra%len(mark{}) != 0 || extra > maxGranted*len(mark{}) {
		return st, failure.New(failure.ConsentInvalid, hintAskAgain, "the requestState is none that this server gave")
	}
	body, mac := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	switch {
	case mark(body[:len(mark{})]) != s.process:
		return st, failure.New(failure.ConsentUnknown, hintAskAgain,
			"the answer is to a question that this process of the server did not ask: it was started again since, or there are several")
	case !hmac.Equal(mac, s.mac([]byte("state"), body)):
		return st, failure.New(failure.ConsentInvalid, hintAskAgain, "the requestState was changed")
	}
	body = body[len(mark{}):]
	next := func() (m mark) {
		body = body[copy(m[:], body):]
		return m
	}
	st.nonce = next()
	st.expires, body = int64(binary.BigEndian.Uint64(body)), body[8:]
	st.caller, st.call, st.asked = next(), next(), next()
	for len(body) > 0 {
		st.granted = append(st.granted, next())
	}
	return st, nil
}

const hintAskAgain = "Call the tool again without `requestState` and `inputResponses`: the user is asked again."
