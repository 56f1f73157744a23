package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLineBytes bounds a line, its line break included.
const maxLineBytes = 16 << 10

// Bounds of what is in a line, in bytes before it is encoded.
const (
	maxNameBytes = 64  // of what names a kind of thing
	maxTextBytes = 256 // of what names a thing
	maxListed    = 32  // of the elements of a list
)

// line encodes a record as one line. Lists that do not fit are cut.
func (l *Log) line(r Record) ([]byte, error) {
	r.cut(maxListed)
	l.bound(&r)
	for limit := maxListed; ; limit /= 2 {
		r.cut(limit)
		if limit == 0 {
			r.Input = nil
		}
		line, err := encode(r)
		if err != nil {
			return nil, fmt.Errorf("encode a record: %w", err)
		}
		if len(line) <= maxLineBytes {
			return line, nil
		}
		if limit == 0 {
			return nil, fmt.Errorf("a record takes %d bytes, more than %d", len(line), maxLineBytes)
		}
	}
}

// bound cuts all text, and takes secrets out of it.
func (l *Log) bound(r *Record) {
	for _, name := range []*string{(*string)(&r.Event), (*string)(&r.Outcome), &r.ID, &r.Server, &r.Method, &r.Tool, &r.Decision, &r.Answer, &r.Error, &r.Status, &r.Backend, &r.Tier} {
		*name = l.text(*name, maxNameBytes)
	}
	for _, text := range []*string{&r.Session, &r.Caller, &r.Skill, &r.Digest, &r.Rule} {
		*text = l.text(*text, maxTextBytes)
	}
	r.Workspace = l.text(shortHandles(r.Workspace), maxNameBytes)
	r.Granted, r.Asked, r.SecretsSent = l.texts(r.Granted), l.texts(r.Asked), l.texts(r.SecretsSent)
	hosts := make([]Host, 0, len(r.Hosts))
	for _, host := range r.Hosts {
		host.Host, host.Reason = l.text(host.Host, maxTextBytes), l.text(host.Reason, maxNameBytes)
		hosts = append(hosts, host)
	}
	r.Hosts = hosts
	files := make([]File, 0, len(r.Artifacts))
	for _, file := range r.Artifacts {
		files = append(files, File{l.text(file.Path, maxTextBytes), file.Size, l.text(file.Digest, 2*maxNameBytes)})
	}
	r.Artifacts = files
	for i, changes := range r.Changes { // which are a copy
		changes.ID, changes.Of = l.text(changes.ID, maxNameBytes), l.text(changes.Of, maxTextBytes)
		changes.Applied, changes.Conflicts, changes.Refused = l.texts(changes.Applied), l.texts(changes.Conflicts), l.texts(changes.Refused)
		r.Changes[i] = changes
	}
	if len(r.Input) > 0 {
		r.Input = Redact(r.Input, l.opts.Redact)
	}
}

// text returns a text without secrets, as UTF-8, and cut.
func (l *Log) text(text string, limit int) string {
	return shorten(l.opts.Redact(text), limit)
}

func (l *Log) texts(texts []string) []string {
	bounded := make([]string, 0, len(texts))
	for _, text := range texts {
		bounded = append(bounded, l.text(text, maxTextBytes))
	}
	return bounded
}

// shorten returns at most so many bytes of a text, as UTF-8.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text // encoding replaces what is not UTF-8
	}
	const ellipsis = "…"
	cut := limit - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}

// cut leaves so many elements of every list, and counts the others.
func (r *Record) cut(limit int) {
	if over := len(r.Artifacts) - limit; over > 0 {
		r.Artifacts, r.ArtifactsOmitted = r.Artifacts[:limit], r.ArtifactsOmitted+over
	}
	r.Granted, r.SecretsSent = r.Granted[:min(limit, len(r.Granted))], r.SecretsSent[:min(limit, len(r.SecretsSent))]
	r.Asked = r.Asked[:min(limit, len(r.Asked))]
	kept := min(limit, len(r.Hosts))
	for _, host := range r.Hosts[kept:] {
		r.HostsOmitted += host.Requests + host.Refused
	}
	r.Hosts = r.Hosts[:kept]
	r.Changes = slices.Clone(r.Changes[:min(limit, len(r.Changes))])
	for i := range r.Changes {
		r.Changes[i].cut(limit)
	}
}

func (c *Changes) cut(limit int) {
	for _, paths := range []*[]string{&c.Applied, &c.Conflicts, &c.Refused} {
		if over := len(*paths) - limit; over > 0 {
			*paths = (*paths)[:limit]
			c.Omitted += over
		}
	}
}

// encode writes a record as a line of JSON that a terminal shows as it is.
func encode(r Record) ([]byte, error) {
	encoded, err := marshal(r)
	return escapeControls(encoded), err
}

// marshal writes a value as a line of JSON in which &, < and > are themselves.
func marshal(value any) ([]byte, error) {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return encoded.Bytes(), err
}

// escapeControls escapes in JSON what encoding/json does not, and a terminal
// obeys: DEL, the control characters C1, and those that turn the direction of
// writing.
func escapeControls(encoded []byte) []byte {
	if bytes.IndexFunc(encoded, obeyed) < 0 {
		return encoded
	}
	var safe strings.Builder
	for _, c := range string(encoded) {
		if obeyed(c) {
			fmt.Fprintf(&safe, `\u%04x`, c) // all of them are in the first plane
		} else {
			safe.WriteRune(c)
		}
	}
	return []byte(safe.String())
}

func obeyed(c rune) bool {
	if ' ' <= c && c < '\x7f' {
		return false // which nearly all are
	}
	return c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control))
}
