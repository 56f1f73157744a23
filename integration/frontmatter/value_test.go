package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A value is a JSON value that keeps what encoding/json drops: nil, bool,
// string, json.Number, []any of values, or object.
type object []member

type member struct {
	key   string
	value any
}

var errDuplicateKey = errors.New("a key stands there twice")

// parseJSON reads one JSON value. A key that an object holds twice is an
// error.
func parseJSON(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	v, err := parseValue(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one JSON value: %w", err)
	}
	return v, nil
}

func parseValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			item, err := parseValue(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := decoder.Token()
		return list, err
	case json.Delim('{'):
		return parseObject(decoder)
	}
	return token, nil
}

func parseObject(decoder *json.Decoder) (any, error) {
	found := object{}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string) // the decoder gives no other token here
		if seen[key] {
			return nil, fmt.Errorf("%w: %q", errDuplicateKey, key)
		}
		seen[key] = true
		value, err := parseValue(decoder)
		if err != nil {
			return nil, err
		}
		found = append(found, member{key, value})
	}
	_, err := decoder.Token()
	return found, err
}

func (o object) get(key string) (any, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.key == key })
	if i < 0 {
		return nil, false
	}
	return o[i].value, true
}
