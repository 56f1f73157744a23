package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

const (
	key    = `key-7c1"e4+55/a=` // with what JSON and forms write otherwise
	keyToo = "user-5d0e9a12"

	keyHolder  = "hold-9a41b7c2d0ef"
	userHolder = "hold-77aa0c3d1e5b"
)

func value(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// withSecrets serves a session in which api.test is granted with two secrets, over
// TLS, and what the handler is at.
func withSecrets(t *testing.T, body bool, handler http.HandlerFunc) (s *served, origin string) {
	t.Helper()
	port := serve(t, "127.0.0.1", true, handler)
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	granted := rules(t, at("api.test", port))
	return openAlone(t, resolver, egress.Grant{
		Skill: "weather", Rules: granted, AllowPrivate: loopback,
		Secrets: []egress.Secret{
			{Name: "API_KEY", Placeholder: keyHolder, Value: value(key), Hosts: granted, Body: body},
			{Name: "API_USER", Placeholder: userHolder, Value: value(keyToo), Hosts: granted, Body: body},
			{Name: "OTHER", Placeholder: "hold-of-another", Value: value("of-another"), Hosts: rules(t, "other.test")},
		},
	}), "https://" + at("api.test", port)
}

// seen is what a server was sent.
type seen struct {
	request *http.Request
	body    string
}

func record(got chan<- seen) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r, string(body)}
	}
}

// TestSecretsInHeaders: the server gets values, in whatever header the program has
// put its placeholder.
func TestSecretsInHeaders(t *testing.T) {
	t.Parallel()
	got := make(chan seen, 1)
	s, origin := withSecrets(t, false, record(got))
	for _, http2 := range []bool{false, true} {
		program := client(t, s.address, s.proxy)
		program.Transport.(*http.Transport).ForceAttemptHTTP2 = http2
		request, _ := http.NewRequest(http.MethodPost, origin+"/path?q=1", strings.NewReader("the key "+keyHolder))
		request.Header.Set("Authorization", "Bearer "+keyHolder)
		request.Header.Set("X-Both", keyHolder+";"+userHolder+";"+keyHolder)
		request.Header.Set("X-Other", "hold-of-another")
		if status, body := do(t, program, request); status != http.StatusOK {
			t.Fatal(status, body)
		}
		sent := <-got
		for name, want := range map[string]string{
			"Authorization": "Bearer " + key, "X-Both": key + ";" + keyToo + ";" + key, "X-Other": "hold-of-another", "Accept-Encoding": "identity",
		} {
			if got := sent.request.Header.Get(name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		if sent.body != "the key "+keyHolder {
			t.Errorf("body = %q: it was not granted there", sent.body)
		}
	}
	request, _ := http.NewRequest(http.MethodGet, origin, nil)
	request.SetBasicAuth(userHolder, keyHolder)
	do(t, client(t, s.address, s.proxy), request)
	if user, password, _ := (<-got).request.BasicAuth(); user != keyToo || password != key {
		t.Errorf("Basic = %q, %q", user, password)
	}
	if usage := s.Usage(); !slices.Equal(usage.Secrets, []string{"API_KEY", "API_USER"}) || usage.Hosts[0].Requests != 3 {
		t.Errorf("usage = %+v", usage)
	}
}

// TestSecretsInBodies: where that is granted, a value is in a body as its kind has
// it, and the length is right.
func TestSecretsInBodies(t *testing.T) {
	t.Parallel()
	got := make(chan seen, 1)
	s, origin := withSecrets(t, true, record(got))
	program := client(t, s.address, s.proxy)
	for _, test := range []struct{ kind, body, want string }{
		{"application/json", `{"key":"` + keyHolder + `"}`, `{"key":"key-7c1\"e4+55/a="}`},
		{"application/x-www-form-urlencoded", "key=" + keyHolder + "&x=1", "key=key-7c1%22e4%2B55%2Fa%3D&x=1"},
		{"text/plain", keyHolder + userHolder, key + keyToo},
		{"text/plain", "nothing", "nothing"},
		{"", strings.Repeat("x", 2<<20), strings.Repeat("x", 2<<20)},
	} {
		request, _ := http.NewRequest(http.MethodPost, origin, strings.NewReader(test.body))
		request.Header.Set("Content-Type", test.kind)
		if status, body := do(t, program, request); status != http.StatusOK {
			t.Fatal(status, body)
		}
		if sent := <-got; sent.body != test.want || sent.request.ContentLength != int64(len(test.want)) {
			t.Errorf("%s: %.80q of %d bytes, want %.80q", test.kind, sent.body, sent.request.ContentLength, test.want)
		}
	}
	request, _ := http.NewRequest(http.MethodPost, origin, strings.NewReader(keyHolder+strings.Repeat("x", 2<<20)))
	if status, body := do(t, program, request); status != http.StatusForbidden || !strings.Contains(body, "the secret API_KEY is sent in bodies of up to") {
		t.Errorf("a body that is too long: %d %s", status, body)
	}
}

// TestSecretsThatCannotBeSent: a program is told, and nothing of the reason that
// only the user may know.
func TestSecretsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", true, hello)
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	granted := rules(t, at("api.test", port))
	secret := func(name, holder string, get func(context.Context) (string, error)) egress.Secret {
		return egress.Secret{Name: name, Placeholder: holder, Value: get, Hosts: granted}
	}
	var calls atomic.Int32
	s := openAlone(t, resolver, egress.Grant{Rules: granted, AllowPrivate: loopback, Secrets: []egress.Secret{
		secret("FAILS", "holder-fails", func(context.Context) (string, error) { return "", errors.New("/home/user/.pass: private") }),
		secret("EMPTY", "holder-empty", value("")),
		secret("LINES", "holder-lines", value("a\r\nX-Other: b")),
		secret("LATER", "holder-later", func(context.Context) (string, error) {
			if calls.Add(1) == 1 {
				return "", errors.New("locked")
			}
			return "later", nil
		}),
	}})
	program := client(t, s.address, s.proxy)
	send := func(holder, path string) (int, string) {
		request, _ := http.NewRequest(http.MethodGet, "https://"+at("api.test", port)+path, nil)
		request.Header.Set("X-Key", holder)
		return do(t, program, request)
	}
	for _, name := range []string{"FAILS", "EMPTY", "LINES", "LATER"} {
		status, body := send("holder-"+strings.ToLower(name), "/")
		if want := "the value of the secret " + name + " cannot be had"; status != http.StatusForbidden || !strings.Contains(body, want) || strings.Contains(body, "private") {
			t.Errorf("%s: %d %s, want %q", name, status, body, want)
		}
	}
	for range 2 {
		if status, body := send("holder-later", "/"); status != http.StatusOK {
			t.Errorf("a source that succeeds later: %d %s", status, body)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("the source was asked %d times", calls.Load())
	}
	for _, path := range []string{"/?key=holder-later", "/holder-later/x", "/?key=holder%2Dlater"} {
		if status, body := send("", path); status != http.StatusForbidden || !strings.Contains(body, "in headers only, and not in a URL") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if usage := s.Usage(); !slices.Equal(usage.Secrets, []string{"LATER"}) {
		t.Errorf("usage = %+v", usage)
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	proxy := newProxy(t, egress.Options{})
	for _, test := range []struct {
		secrets []egress.Secret
		want    string
	}{
		{[]egress.Secret{{Name: "SHORT", Placeholder: "1234567", Value: value("x")}}, "secret SHORT: a placeholder has from 8 to 4096 bytes"},
		{[]egress.Secret{{Name: "LINE", Placeholder: "1234\n5678", Value: value("x")}}, "secret LINE: the placeholder has characters that no header can carry"},
		{[]egress.Secret{{Name: "NOWHERE", Placeholder: "12345678"}}, "secret NOWHERE: it has no source"},
		{[]egress.Secret{{Name: "A", Placeholder: "12345678", Value: value("x")}, {Name: "B", Placeholder: "0123456789", Value: value("x")}},
			"secrets A and B: one placeholder is a part of the other"},
	} {
		if _, err := proxy.Open(egress.Grant{Secrets: test.secrets}); err == nil || err.Error() != test.want {
			t.Errorf("Open = %v, want %s", err, test.want)
		}
	}
}

// TestEchoes: what a server repeats of a value comes back as the placeholder, in
// pieces too, and a stream goes on as it comes.
func TestEchoes(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s, origin := withSecrets(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		flush := func(text string) {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
		switch r.URL.Path {
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			flush("data: one\n\n")
			<-next
			flush("data: " + key + "\n\n")
		case "/pieces":
			flush("a " + key[:7])
			<-next
			flush(key[7:] + key[:1])
			flush(key[1:] + " z")
		default:
			fmt.Fprintf(w, "%s %q %s", key, key, r.Header.Get("Authorization"))
		}
	})
	program := client(t, s.address, s.proxy)
	ask := func(path string) *http.Response {
		request, _ := http.NewRequest(http.MethodGet, origin+path, nil)
		request.SetBasicAuth("me", keyHolder)
		response, err := program.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	request, _ := http.NewRequest(http.MethodGet, "/", nil)
	request.SetBasicAuth("me", keyHolder)
	sent := request.Header.Get("Authorization")
	whole, pieces := ask("/"), ask("/pieces")
	body, _ := io.ReadAll(whole.Body)
	if want := keyHolder + ` "` + keyHolder + `" ` + sent; string(body) != want || whole.Header.Get("X-Echo") != sent {
		t.Errorf("%q, %v; want %q", body, whole.Header, want)
	}
	first := make([]byte, 2)
	if _, err := io.ReadFull(pieces.Body, first); err != nil || string(first) != "a " {
		t.Errorf("the pieces begin %q, %v", first, err)
	}
	next <- struct{}{} // the first piece has passed
	if rest, _ := io.ReadAll(pieces.Body); string(rest) != keyHolder+keyHolder+" z" {
		t.Errorf("the pieces go on %q", rest)
	}
	lines := bufio.NewReader(ask("/stream").Body)
	if line, err := lines.ReadString('\n'); line != "data: one\n" || err != nil {
		t.Errorf("the stream begins %q, %v", line, err)
	}
	close(next)
	if rest, _ := io.ReadAll(lines); string(rest) != "\ndata: "+keyHolder+"\n\n" {
		t.Errorf("the stream goes on %q", rest)
	}
}

// TestProgramsThatTrustNobody: a program that does not take the proxy's certificate
// gets nowhere, and the account says why.
func TestProgramsThatTrustNobody(t *testing.T) {
	t.Parallel()
	s, origin := withSecrets(t, false, hello)
	if status, body := get(t, client(t, s.address, nil), origin); status != 0 {
		t.Errorf("%d %s", status, body)
	}
	s.Close()
	if usage := s.Usage(); len(usage.Hosts) != 1 || usage.Hosts[0].Reason != egress.Untrusted {
		t.Errorf("usage = %+v", usage)
	}
}

// TestSecretsThatDidNotLeave: only what went out on a connection counts as sent.
func TestSecretsThatDidNotLeave(t *testing.T) {
	t.Parallel()
	open, closed := serve(t, "127.0.0.1", false, hello), closedPort(t)
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	granted := rules(t, "http://"+at("api.test", open), "http://"+at("api.test", closed), "http://"+at("none.test", open))
	s := openAlone(t, resolver, egress.Grant{
		Rules: granted, AllowPrivate: loopback, Secrets: []egress.Secret{{Name: "KEY", Placeholder: keyHolder, Value: value(key), Hosts: granted}},
	})
	for _, step := range []struct {
		target string
		sent   []string
	}{{at("api.test", closed), nil}, {at("none.test", open), nil}, {at("api.test", open), []string{"KEY"}}} {
		request, _ := http.NewRequest(http.MethodGet, "http://"+step.target, nil)
		request.Header.Set("X-Key", keyHolder)
		status, body := do(t, client(t, s.address, s.proxy), request)
		if sent := s.Usage().Secrets; !slices.Equal(sent, step.sent) {
			t.Errorf("%s: %v count as sent: %d %s", step.target, sent, status, body)
		}
	}
}

// TestServersThatNobodyTrusts: a value goes to no server whose certificate is not
// that of the host.
func TestServersThatNobodyTrusts(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	port := serve(t, "127.0.0.1", true, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	granted := rules(t, at("api.test", port))
	other := newProxy(t, egress.Options{Resolver: resolver, RootCAs: emptyPool()})
	s := open(t, other, egress.Grant{Rules: granted, AllowPrivate: loopback, Secrets: []egress.Secret{
		{Name: "KEY", Placeholder: keyHolder, Value: value(key), Hosts: granted},
	}})
	request, _ := http.NewRequest(http.MethodGet, "https://"+at("api.test", port), nil)
	request.Header.Set("X-Key", keyHolder)
	status, body := do(t, client(t, s.address, other), request)
	if status != http.StatusBadGateway || !strings.Contains(body, "the server's certificate is not valid for it") || requests.Load() != 0 {
		t.Errorf("%d %s", status, body)
	}
	if sent := s.Usage().Secrets; sent != nil {
		t.Errorf("%v count as sent", sent)
	}
}

// TestPlainSecrets: over plain HTTP a value goes only where the secret's own rule
// says http://.
func TestPlainSecrets(t *testing.T) {
	t.Parallel()
	got := make(chan seen, 1)
	port := serve(t, "127.0.0.1", false, record(got))
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	for rule, want := range map[string]string{"http://" + at("api.test", port): key, at("api.test", port): keyHolder} {
		s := openAlone(t, resolver, egress.Grant{
			Rules: rules(t, "http://"+at("api.test", port)), AllowPrivate: loopback,
			Secrets: []egress.Secret{{Name: "KEY", Placeholder: keyHolder, Value: value(key), Hosts: rules(t, rule)}},
		})
		request, _ := http.NewRequest(http.MethodGet, "http://"+at("api.test", port), nil)
		request.Header.Set("X-Key", keyHolder)
		do(t, client(t, s.address, s.proxy), request)
		if sent := (<-got).request.Header.Get("X-Key"); sent != want {
			t.Errorf("with %s the server gets %q, want %q", rule, sent, want)
		}
	}
}
