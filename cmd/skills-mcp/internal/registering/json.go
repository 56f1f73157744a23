package registering

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFile is a file of JSON, with comments and trailing commas in some hosts, that
// has the servers by their names in one member.
type jsonFile struct {
	key string
	// kind writes that the server is spoken to by standard input and output.
	kind bool
}

// jsonEntry is an entry as hosts have it.
type jsonEntry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

func (f jsonFile) encoded(entry Entry) jsonEntry {
	encoded := jsonEntry{Command: entry.Command, Args: append([]string{}, entry.Args...)}
	if f.kind {
		encoded.Type = "stdio"
	}
	return encoded
}

func (f jsonFile) entries(data []byte) (map[string]Entry, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	plain, err := hujson.Standardize(bytes.Clone(data))
	if err != nil {
		return nil, err
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(plain, &whole); err != nil {
		return nil, err
	}
	var servers map[string]json.RawMessage
	if whole[f.key] != nil {
		if err := json.Unmarshal(whole[f.key], &servers); err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	entries := make(map[string]Entry, len(servers))
	for name, raw := range servers {
		var server jsonEntry
		_ = json.Unmarshal(raw, &server) // what is another server's is the host's to judge
		entries[name] = Entry{server.Command, server.Args, server.Env}
	}
	return entries, nil
}

func (f jsonFile) show(name string, entry Entry) []byte {
	shown, _ := f.put(nil, name, entry) // of nothing there is nothing to refuse
	return shown
}

func (f jsonFile) put(data []byte, name string, entry Entry) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, err
	}
	style := styleOf(data, root)
	servers, err := style.object(&root, f.key, 1)
	if err != nil {
		return nil, err
	}
	server, err := style.object(servers, name, 2)
	if err != nil {
		return nil, err
	}
	encoded := f.encoded(entry)
	if encoded.Type != "" {
		style.set(server, "type", encoded.Type, 3)
	}
	style.set(server, "command", encoded.Command, 3)
	style.set(server, "args", encoded.Args, 3)
	return root.Pack(), nil
}

func (f jsonFile) remove(data []byte, name string) ([]byte, error) {
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, err
	}
	servers := member(&root, f.key)
	if servers == nil {
		return data, nil
	}
	object, isObject := servers.Value.(*hujson.Object)
	if !isObject {
		return nil, errNoObject(f.key)
	}
	i := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == name })
	if i < 0 {
		return data, nil
	}
	// Comments before it may be about the member that stands there.
	about := trimSpace(object.Members[i].Name.BeforeExtra)
	switch last := len(object.Members) - 1; {
	case i < last:
		next := &object.Members[i+1].Name
		next.BeforeExtra = above(about, next.BeforeExtra)
	case i > 0 && object.Members[i].Value.AfterExtra == nil: // no comma before the end
		about = slices.Concat(object.Members[i-1].Value.AfterExtra, about)
		object.Members[i-1].Value.AfterExtra = nil
		object.AfterExtra = above(about, object.AfterExtra)
	default:
		if before := max(i-1, 0); object.Members[before].Value.AfterExtra == nil {
			object.Members[before].Value.AfterExtra = hujson.Extra{}
		}
		object.AfterExtra = above(about, object.AfterExtra)
	}
	object.Members = slices.Delete(object.Members, i, i+1)
	return root.Pack(), nil
}

func errNoObject(key string) error { return fmt.Errorf("%q is no object in it", key) }

func nameOf(m hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

// member returns the value of a member, or nil. Of several, readers take the last.
func member(of *hujson.Value, key string) *hujson.Value {
	object, isObject := of.Value.(*hujson.Object)
	if !isObject {
		return nil
	}
	for i := len(object.Members) - 1; i >= 0; i-- {
		if nameOf(object.Members[i]) == key {
			return &object.Members[i].Value
		}
	}
	return nil
}

// style is how a file is written.
type style struct{ line, indent string }

// styleOf takes what the first member of a file is written with.
func styleOf(data []byte, root hujson.Value) style {
	s := style{"\n", "  "}
	if bytes.Contains(data, []byte("\r\n")) {
		s.line = "\r\n"
	}
	if object, isObject := root.Value.(*hujson.Object); isObject && len(object.Members) > 0 {
		before := string(object.Members[0].Name.BeforeExtra)
		last := before[strings.LastIndexByte(before, '\n')+1:]
		if last != "" && strings.Trim(last, " \t") == "" {
			s.indent = last
		}
	}
	return s
}

func (s style) at(depth int) string { return s.line + strings.Repeat(s.indent, depth) }

// object returns the object that is a member, which it makes where there is none.
func (s style) object(of *hujson.Value, key string, depth int) (*hujson.Value, error) {
	if _, isObject := of.Value.(*hujson.Object); !isObject {
		return nil, errors.New("it holds no object")
	}
	found := member(of, key)
	if found == nil {
		found = s.add(of, key, &hujson.Object{}, depth)
	}
	if _, isObject := found.Value.(*hujson.Object); !isObject {
		return nil, errNoObject(key)
	}
	return found, nil
}

// set sets a member to a text or a list of texts, and leaves it where it says so
// already.
func (s style) set(of *hujson.Value, key string, value any, depth int) {
	encoded := s.encode(value)
	parsed, err := hujson.Parse(encoded)
	if err != nil {
		return // which what is written is compared with the entry for
	}
	found := member(of, key)
	if found == nil {
		s.add(of, key, parsed.Value, depth)
		return
	}
	old, _ := hujson.Minimize(bytes.TrimSpace(found.Clone().Pack()))
	want, _ := hujson.Minimize(bytes.Clone(encoded))
	if !bytes.Equal(old, want) {
		found.Value = parsed.Value
	}
}

// encode writes a list on one line, with a space behind each comma.
func (s style) encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	list, isList := value.([]string)
	if !isList {
		_ = encoder.Encode(value) // a text always has an encoding
		return bytes.TrimSpace(out.Bytes())
	}
	parts := make([]string, len(list))
	for i, each := range list {
		parts[i] = string(s.encode(each))
	}
	return []byte("[" + strings.Join(parts, ", ") + "]")
}

// add adds a member on a line of its own behind the others.
func (s style) add(of *hujson.Value, key string, value hujson.ValueTrimmed, depth int) *hujson.Value {
	object := of.Value.(*hujson.Object)
	added := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(s.at(depth)), Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if last := len(object.Members) - 1; last >= 0 {
		before := &object.Members[last].Value
		if before.AfterExtra != nil { // with a comma behind it, and maybe a comment behind that
			added.Value.AfterExtra = hujson.Extra{}
			added.Name.BeforeExtra = slices.Concat(trimSpace(object.AfterExtra), added.Name.BeforeExtra)
			object.AfterExtra = nil
		} else if comment := trimSpace(object.AfterExtra); len(comment) > 0 {
			added.Name.BeforeExtra = slices.Concat(comment, added.Name.BeforeExtra)
			object.AfterExtra = nil
		}
	} else if comment := trimSpace(object.AfterExtra); len(comment) > 0 {
		added.Name.BeforeExtra = slices.Concat(comment, added.Name.BeforeExtra)
		object.AfterExtra = nil
	}
	if !bytes.Contains(object.AfterExtra, []byte("\n")) {
		object.AfterExtra = hujson.Extra(s.at(depth - 1))
	}
	object.Members = append(object.Members, added)
	return &object.Members[len(object.Members)-1].Value
}

// trimSpace returns comments without the space behind them; a comment that ends
// with its line keeps nothing of that, since a line follows.
func trimSpace(extra hujson.Extra) hujson.Extra { return bytes.TrimRight(extra, " \t\r\n") }

// above puts comments before space, which has to end their line.
func above(comments, space hujson.Extra) hujson.Extra {
	if len(comments) > 0 && !bytes.Contains(space, []byte("\n")) {
		comments = slices.Concat(comments, []byte("\n"))
	}
	return slices.Concat(comments, space)
}
