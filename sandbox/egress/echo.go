package egress

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// hideSecrets puts placeholders in the place of values that a server sends back:
// many repeat in an error what they were sent. It takes out what is written as it
// is, in URLs or in JSON; a server that gives a value away in another form is one
// that should not have been granted it.
func hideSecrets(response *http.Response, exchange *exchange) {
	pairs := exchange.echoes
	for _, secret := range exchange.secrets {
		if value := secret.known(); len(value) >= minPlaceholderBytes {
			pairs = append(pairs, pairsOf(value, secret.Placeholder)...)
		}
	}
	if len(pairs) == 0 {
		return
	}
	for _, values := range response.Header {
		for i, text := range values {
			values[i] = string(replaceAll([]byte(text), pairs))
		}
	}
	if response.Body == http.NoBody || response.ContentLength == 0 || response.Header.Get("Content-Encoding") != "" {
		return
	}
	response.Body = &hidingBody{source: response.Body, pairs: pairs}
	response.ContentLength = -1
	response.Header.Del("Content-Length")
}

// pair is a text and what comes in its place.
type pair struct{ old, new []byte }

// pairsOf returns a value in the forms in which it is looked for.
func pairsOf(value, placeholder string) []pair {
	var pairs []pair
	for _, encode := range []func(string) string{strings.Clone, inJSON, url.QueryEscape, url.PathEscape} {
		pairs = append(pairs, pair{old: []byte(encode(value)), new: []byte(encode(placeholder))})
	}
	return pairs
}

func replaceAll(text []byte, pairs []pair) []byte {
	for _, p := range pairs {
		text = bytes.ReplaceAll(text, p.old, p.new)
	}
	return text
}

// hidingBody replaces text while it passes. It holds back no more than what may be
// the beginning of what it looks for, so that streams go on.
type hidingBody struct {
	source io.ReadCloser
	pairs  []pair
	ready  []byte // to be read
	held   []byte // may be the beginning of an old text
	err    error
}

func (b *hidingBody) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		buffer := make([]byte, max(len(p), 512))
		n, err := b.source.Read(buffer)
		b.err = err
		b.pass(append(b.held, buffer[:n]...))
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	if n == 0 && len(p) > 0 {
		return 0, b.err
	}
	return n, nil
}

// pass makes ready what is no beginning of an old text, or all at the end.
func (b *hidingBody) pass(text []byte) {
	text = replaceAll(text, b.pairs)
	keep := 0
	if b.err == nil {
		for _, p := range b.pairs {
			keep = max(keep, beginning(text, p.old))
		}
	}
	b.ready = text[:len(text)-keep]
	b.held = bytes.Clone(text[len(text)-keep:])
}

// beginning returns how many bytes at the end of text are the beginning of a
// longer old text.
func beginning(text, old []byte) int {
	for n := min(len(text), len(old)-1); n > 0; n-- {
		if bytes.HasSuffix(text, old[:n]) {
			return n
		}
	}
	return 0
}

func (b *hidingBody) Close() error { return b.source.Close() }

// watchedBody remembers that a body of unknown length ended before its end.
type watchedBody struct {
	io.ReadCloser
	exchange *exchange
}

func (w *watchedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.exchange.broken = true
	}
	return n, err
}
