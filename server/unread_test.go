package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnreadAnswersAreBounded: clients that ask for long files and read no
// answer are refused more of them, while another client is served; when they
// are gone, nothing is held of them.
func TestUnreadAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const asked = 30 // of 12 MiB each
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "long", "SKILL.md"), []byte("---\nname: long\ndescription: Long.\n---\n"))
	writeFile(t, filepath.Join(root, "long", "file.txt"), bytes.Repeat([]byte("x"), 12<<20))
	params := map[string]any{"uri": "skill://long/file.txt"}
	for _, transport := range []string{"HTTP", "SSE"} {
		t.Run(transport, func(t *testing.T) {
			url := newFixture(t, root).serveHTTP(t)
			var refused int
			if transport == "SSE" {
				refused = silentSSE(t, url, asked, params)
			} else {
				refused = silentHTTP(t, url, asked, params)
			}
			if refused < asked/2 || refused == asked {
				t.Errorf("%d of %d were refused", refused, asked)
			}
		})
	}
}

// long reads a file over another session, and reports whether it came.
func long(t *testing.T, url string, params any) bool {
	t.Helper()
	_, body := post(t, url+"/mcp", rpc(1, "resources/read", params), legacy(t, url)...)
	return bytes.Contains(body, []byte(`"result"`))
}

// silentSSE asks over a stream that it reads only at the end, and returns how
// many answers were refusals.
func silentSSE(t *testing.T, url string, asked int, params any) (refused int) {
	t.Helper()
	stream := send(t, http.MethodGet, url+"/sse")
	events := bufio.NewScanner(stream.Body)
	events.Buffer(nil, 64<<20)
	endpoint := url + nextData(t, events)
	for id := range asked {
		post(t, endpoint, rpc(id, "resources/read", params))
	}
	if !long(t, url, params) {
		t.Error("another client was refused")
	}
	for range asked {
		if strings.Contains(nextData(t, events), `"sandbox_busy"`) {
			refused++
		}
	}
	if !long(t, url, params) {
		t.Error("afterwards another client was refused")
	}
	return refused
}

// silentHTTP does the same by one connection for each request.
func silentHTTP(t *testing.T, url string, asked int, params any) (refused int) {
	t.Helper()
	headers := legacy(t, url)
	host := strings.TrimPrefix(url, "http://")
	var readers []*bufio.Reader
	for id := range asked {
		connection, err := net.Dial("tcp", host)
		must(t, err)
		t.Cleanup(func() { connection.Close() })
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"skill://long/file.txt"}}`, id)
		_, err = fmt.Fprintf(connection, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
			host, headers[0], headers[1], len(body), body)
		must(t, err)
		reader := bufio.NewReader(connection)
		_, err = reader.Peek(1) // so that it is under way
		must(t, err)
		readers = append(readers, reader)
	}
	if !long(t, url, params) {
		t.Error("another client was refused")
	}
	for _, reader := range readers {
		response, err := http.ReadResponse(reader, nil)
		must(t, err)
		var answer bytes.Buffer
		_, err = answer.ReadFrom(response.Body)
		must(t, err)
		if bytes.Contains(answer.Bytes(), []byte(`"sandbox_busy"`)) {
			refused++
		}
	}
	return refused
}
