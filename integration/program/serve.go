package program

import (
	"io"
	"regexp"
	"testing"
)

// listenAddress finds the server's own address in what it says when it is
// ready.
var listenAddress = regexp.MustCompile(`http://127\.0\.0\.1:[1-9][0-9]*\b`)

// Serve starts the HTTP server, with these flags and roots, on a free port of
// loopback. It returns when the server is ready, with its base URL, which has
// no slash at its end.
func Serve(t testing.TB, env []string, args ...string) (*Process, string) {
	t.Helper()
	p := Start(t, env, Binary(t), append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	p.daemon = true
	go func() { _, _ = io.Copy(io.Discard, p.Stdout) }()
	var url string
	Eventually(t, "the server says where it listens", func() bool {
		select {
		case <-p.Exited:
			t.Fatalf("serve exited:\n%s", p.Stderr)
		default:
		}
		url = listenAddress.FindString(p.Stderr.String())
		return url != ""
	})
	return p, url
}
