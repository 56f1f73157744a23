package redact

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON returns JSON, of any number of values, whose strings and keys are without
// the values, and which is valid where it was; its numbers and all else are not
// touched. What is no JSON is treated as [Set.Bytes] does.
func (s *Set) JSON(text []byte) []byte {
	m := s.matcher()
	if m == nil {
		return text
	}
	var out []byte
	done := 0
	for at := 0; ; {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
		begin := at + quote
		end := endOfString(text, begin)
		clean, changed, valid := m.redactString(text[begin:end])
		if !valid {
			return s.Bytes(text)
		}
		if changed {
			out = append(append(out, text[done:begin]...), clean...)
			done = end
		}
		at = end
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// JSONWriter returns a writer that passes on to w what [Set.JSON] makes of what
// is written to it. Each write is of whole values of JSON. It can be used by
// several goroutines where w can.
func (s *Set) JSONWriter(w io.Writer) io.Writer { return jsonWriter{s, w} }

type jsonWriter struct {
	set  *Set
	next io.Writer
}

// Write implements [io.Writer].
func (w jsonWriter) Write(p []byte) (int, error) {
	if _, err := w.next.Write(w.set.JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// endOfString returns the end of a string that begins with a quote.
func endOfString(text []byte, begin int) int {
	for i := begin + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// redactString returns a string of JSON, with its quotes, without the values.
func (m *matcher) redactString(quoted []byte) (clean []byte, changed, valid bool) {
	n := len(quoted) - 1
	if n < 1 || quoted[n] != '"' {
		return nil, false, false
	}
	text := quoted[1:n]
	if bytes.IndexByte(text, '\\') >= 0 {
		var decoded string
		if json.Unmarshal(quoted, &decoded) != nil {
			return nil, false, false
		}
		text = []byte(decoded)
	}
	if clean, changed = m.redact(text); !changed {
		return nil, false, true
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(string(clean)) != nil {
		return nil, false, false
	}
	return bytes.TrimSuffix(encoded.Bytes(), []byte("\n")), true, true
}
