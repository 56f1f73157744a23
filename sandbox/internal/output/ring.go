package output

// ring keeps the last size bytes that were written to it.
type ring struct {
	size  int
	buf   []byte // grows to size, then is overwritten from next on
	start int    // of the oldest byte in a full buf
}

func (r *ring) write(p []byte) {
	if len(p) >= r.size {
		r.buf, r.start = append(r.buf[:0], p[len(p)-r.size:]...), 0
		return
	}
	grow := min(r.size-len(r.buf), len(p))
	r.buf = append(r.buf, p[:grow]...)
	for p = p[grow:]; len(p) > 0; {
		n := copy(r.buf[r.start:], p)
		r.start = (r.start + n) % r.size
		p = p[n:]
	}
}

// bytes returns what is kept, oldest first.
func (r *ring) bytes() []byte {
	return append(append([]byte(nil), r.buf[r.start:]...), r.buf[:r.start]...)
}
