package hosted

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// FuzzCommandIn: an input is a command only where every reader of JSON sees that one
// and nothing else.
func FuzzCommandIn(f *testing.F) {
	for _, seed := range []string{
		`{"command":"x"}`, `{"command":"x","command":"y"}`, `{"Command":"x"}`, `{"command":"x"} {}`, `{"command":""}A`, `{"command":"\u0078"}`,
		`{"command":["x"]}`, `{"command":"x","restart":true}`, `"x"`, `null`, ``, `{"command":"x"`, `[{"command":"x"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		command, ok := commandIn(input)
		if !ok {
			return
		}
		var members map[string]string
		if json.Unmarshal(input, &members) != nil || len(members) != 1 || members["command"] != command || bytes.Count(input, []byte(`"`)) < 4 {
			t.Errorf("%q is taken as %q", input, command)
		}
	})
}

// FuzzReply: whatever a container hands over, its parts lie in it, one after the
// other.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		`{"code":0,"stdout":1,"stderr":2,"files":3}` + "\nabbccc", `{"stdout":-1}` + "\n", `{"files":9223372036854775807}` + "\nx", "\n", "", `{"code":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		head, stdout, stderr, files, err := readReply(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var parts []byte
		for _, part := range []io.Reader{stdout, stderr, files} {
			read, err := io.ReadAll(part)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, read...)
		}
		if int64(len(parts)) != head.Stdout+head.Stderr+head.Files || !strings.Contains(string(data), string(parts)) {
			t.Errorf("%q has the parts %q", data, parts)
		}
		if ending, err := head.ending(); err == nil && (ending.Code < 0 || ending.Code > 255) {
			t.Errorf("%q ends as %+v", data, ending)
		}
	})
}
