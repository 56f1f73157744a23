package server_test

import (
	"encoding/json"
	"io"
	"testing"
)

// request asks one question over stdio and decodes the result.
func (f *fixture) request(t testing.TB, method string, params any, result any) {
	t.Helper()
	raw := f.exchange(t, method, params)
	var response struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(raw, &response); err != nil || response.Result == nil {
		t.Fatalf("%s: %s (%v)", method, raw, err)
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		t.Fatal(err)
	}
}

// exchange sends one request and the end of input, and returns all that comes
// back.
func (f *fixture) exchange(t testing.TB, method string, params any) []byte {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	return f.exchangeRaw(t, message)
}

// exchangeRaw sends one line and the end of input.
func (f *fixture) exchangeRaw(t testing.TB, message []byte) []byte {
	t.Helper()
	input, feed := io.Pipe()
	output, sink := io.Pipe()
	go func() {
		_, _ = feed.Write(append(message, '\n'))
		feed.Close()
	}()
	go func() { sink.CloseWithError(f.server.ServeStdio(t.Context(), input, sink)) }()
	raw, err := io.ReadAll(output)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
