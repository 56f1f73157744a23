package egress_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

func hello(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte("hello " + r.Host + " " + r.Proto))
}

// TestGranted: what is granted is reached, by every way, and counted.
func TestGranted(t *testing.T) {
	t.Parallel()
	secure, plain := serve(t, "127.0.0.1", true, hello), serve(t, "127.0.0.1", false, hello)
	var resolver names
	resolver.set("api.test", "127.0.0.1")
	resolver.set("v1.sub.test", "127.0.0.1")
	s := open(t, newProxy(t, egress.Options{Resolver: &resolver}), egress.Grant{
		Rules:        rules(t, at("api.test", secure), "http://"+at("api.test", plain), at("*.sub.test", secure)),
		AllowPrivate: loopback,
	})
	program := client(t, s.address, nil)
	for _, test := range []struct{ url, want string }{
		{"https://" + at("api.test", secure), "hello " + at("api.test", secure) + " HTTP/2.0"},
		{"http://" + at("api.test", plain), "hello " + at("api.test", plain) + " HTTP/1.1"},
		{"https://" + at("V1.Sub.test", secure), "hello " + at("V1.Sub.test", secure) + " HTTP/2.0"},
	} {
		if status, body := get(t, program, test.url); status != http.StatusOK || body != test.want {
			t.Errorf("GET %s = %d %q, want %q", test.url, status, body, test.want)
		}
	}
	want := []egress.HostUsage{
		{Host: "api.test", Port: min(secure, plain), Requests: 1},
		{Host: "api.test", Port: max(secure, plain), Requests: 1},
		{Host: "v1.sub.test", Port: secure, Requests: 1},
	}
	usage := s.Usage()
	for i := range usage.Hosts {
		if usage.Hosts[i].Bytes == 0 {
			t.Errorf("no bytes are counted for %+v", usage.Hosts[i])
		}
		usage.Hosts[i].Bytes = 0
	}
	if diff := cmp.Diff(egress.Usage{Hosts: want}, usage, cmp.Comparer(func(a, b hosts.Rule) bool { return a == b })); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}
