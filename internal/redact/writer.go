package redact

import "io"

// writer redacts a stream.
type writer struct {
	set  *Set
	next io.Writer
	scan *scanner // nil as long as the set was empty
	out  []byte
}

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (int, error) {
	m := w.set.matcher()
	if m == nil {
		return w.next.Write(p)
	}
	w.follow(m)
	s := w.scan
	from := s.base + len(s.buf)
	s.buf = append(s.buf, p...)
	s.scan(from)
	if err := w.pass(s.settled()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// follow goes on with the values that there are by now: what was kept back is
// looked at again.
func (w *writer) follow(m *matcher) {
	if w.scan != nil && w.scan.m == m {
		return
	}
	fresh := newScanner(m)
	fresh.owned = true // scan appends to the buffer
	if w.scan != nil {
		fresh.base, fresh.buf, fresh.covered = w.scan.base, w.scan.buf, w.scan.covered
	}
	w.scan = fresh
	fresh.scan(fresh.base)
}

// pass writes the text up to a position.
func (w *writer) pass(to int) error {
	w.out = w.scan.emit(w.out[:0], to)
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.next.Write(w.out)
	return err
}

// Close writes what was kept back.
func (w *writer) Close() error {
	if w.scan == nil {
		return nil
	}
	w.scan.finish()
	return w.pass(w.scan.base + len(w.scan.buf))
}
