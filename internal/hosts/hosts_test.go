package hosts_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

func TestParse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("a", 63)+".", 3)
	for _, test := range []struct{ give, want string }{
		{"api.example.com", "api.example.com"},
		{"API.Example.COM", "api.example.com"},
		{"https://api.example.com", "api.example.com"},
		{"https://api.example.com:443/", "api.example.com"},
		{"HTTPS://api.example.com", "api.example.com"},
		{"api.example.com:8443", "api.example.com:8443"},
		{"api.example.com:80", "api.example.com:80"},
		{"http://api.example.com", "http://api.example.com"},
		{"http://api.example.com:80", "http://api.example.com"},
		{"http://api.example.com:443", "http://api.example.com:443"},
		{"*.example.com", "*.example.com"},
		{"http://*.example.com:8080", "http://*.example.com:8080"},
		{"my_bucket.s3.example.com", "my_bucket.s3.example.com"},
		{"3.example.1a", "3.example.1a"},
		{"registry", "registry"},
		{"Bücher.example", "xn--bcher-kva.example"},
		{"*.bücher.example", "*.xn--bcher-kva.example"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{long + strings.Repeat("b", 61), long + strings.Repeat("b", 61)},
	} {
		t.Run(test.give, func(t *testing.T) {
			t.Parallel()
			got, err := hosts.Parse(test.give)
			if err != nil || got.String() != test.want {
				t.Fatalf("Parse = %v, %v; want %s", got, err, test.want)
			}
			if again, err := hosts.Parse(got.String()); again != got || err != nil {
				t.Errorf("Parse(%s) = %v, %v", got, again, err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ give, reason string }{
		{"", "has no name"},
		{"http://", "has no name"},
		{":443", "has no name"},
		{"*", "has a \"*\""},
		{"*.", "has no name"},
		{"*.com", "top-level domain"},
		{"**.example.com", "has characters"},
		{"a*.example.com", "has characters"},
		{"api.*.com", "has a \"*\""},
		{"*.*.example.com", "has a \"*\""},
		{".example.com", "empty part"},
		{"api..example.com", "empty part"},
		{"api.example.com.", "ends with a dot"},
		{"-api.example.com", "begins or ends with \"-\""},
		{"api-.example.com", "begins or ends with \"-\""},
		{"api.example.com:0", "port"},
		{"api.example.com:65536", "port"},
		{"api.example.com:", "port"},
		{"api.example.com:0443", "port"},
		{"api.example.com:+443", "port"},
		{"api.example.com:https", "port"},
		{"api.example.com:443.evil.example", "port"},
		{"api.example.com:443:443", "is an address"},
		{"ftp://api.example.com", "scheme"},
		{"://api.example.com", "scheme"},
		{"//api.example.com", "path"},
		{"api.example.com/v1", "path"},
		{"https://api.example.com/v1", "path"},
		{"api.example.com?x", "path"},
		{"api.example.com#x", "path"},
		{"user@api.example.com", "user"},
		{"https://user:password@api.example.com", "user"},
		{"api.example.com ", "has characters"},
		{"api example.com", "has characters"},
		{"api.example.com\x00.evil.example", "has characters"},
		{"api.example.com\r\nHost: evil.example", "port"},
		{"api.example.com\nevil.example", "has characters"},
		{"api.example.com%lo", "has characters"},
		{"api%2eexample.com", "has characters"},
		{`api\.example.com`, "has characters"},
		{"10.0.0.1", "is an address"},
		{"10.0.0.1:443", "is an address"},
		{"http://127.0.0.1", "is an address"},
		{"127.1", "is an address"},
		{"0x7f.1", "is an address"},
		{"0x7f000001", "is an address"},
		{"example.0x7F", "is an address"},
		{"example.0x", "is an address"},
		{"2130706433", "is an address"},
		{"0177.0.0.1", "is an address"},
		{"1.2.3.4.5", "is an address"},
		{"*.0.0.1", "is an address"},
		{"[::1]", "is an address"},
		{"[::1]:443", "is an address"},
		{"::1", "is an address"},
		{"::ffff:10.0.0.1", "is an address"},
		{"fe80::1%eth0", "is an address"},
		{"１２７.0.0.1", "is an address"},
		{"api。example。com。", "ends with a dot"},
		{"api.exam\u200dple.com", "looked up"},
		{"\xff.example.com", "looked up"},
		{strings.Repeat("a", 64) + ".example.com", "longer than 63"},
		{strings.Repeat("a.", 127) + "example", "longer than 253"},
	} {
		t.Run(test.give, func(t *testing.T) {
			t.Parallel()
			got, err := hosts.Parse(test.give)
			if invalid := (*hosts.InvalidError)(nil); !errors.As(err, &invalid) || !strings.Contains(invalid.Reason, test.reason) {
				t.Fatalf("Parse = %v, %v; want %q", got, err, test.reason)
			}
			if got != (hosts.Rule{}) {
				t.Errorf("Parse = %v with an error", got)
			}
		})
	}
}

func TestErrorShowsLittle(t *testing.T) {
	t.Parallel()
	_, err := hosts.Parse("\x1b]0;" + strings.Repeat("a", 10_000))
	if err == nil || len(err.Error()) > 300 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error of %d bytes: %.300q", len(err.Error()), err)
	}
}

func rule(t *testing.T, text string) hosts.Rule {
	t.Helper()
	parsed, err := hosts.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule   string
		host   string
		port   int
		scheme hosts.Scheme
		want   bool
	}{
		{"api.example.com", "api.example.com", 443, hosts.HTTPS, true},
		{"api.example.com", "API.EXAMPLE.com", 443, hosts.HTTPS, true},
		{"api.example.com", "api.example.com", 443, hosts.HTTP, false},
		{"api.example.com", "api.example.com", 80, hosts.HTTP, false},
		{"api.example.com", "api.example.com", 22, hosts.HTTPS, false},
		{"api.example.com", "api.example.com", 0, hosts.HTTPS, false},
		{"api.example.com", "api.example.com", 443 + 65536, hosts.HTTPS, false},
		{"api.example.com", "api.example.com", 443, "ftp", false},
		{"api.example.com", "api.example.com.", 443, hosts.HTTPS, false},
		{"api.example.com", "example.com", 443, hosts.HTTPS, false},
		{"api.example.com", "v1.api.example.com", 443, hosts.HTTPS, false},
		{"api.example.com", "api.example.com.evil.example", 443, hosts.HTTPS, false},
		{"api.example.com", "xapi.example.com", 443, hosts.HTTPS, false},
		{"api.example.com", "api-example.com", 443, hosts.HTTPS, false},
		{"api.example.com:8443", "api.example.com", 8443, hosts.HTTPS, true},
		{"api.example.com:8443", "api.example.com", 443, hosts.HTTPS, false},
		{"api.example.com:8443", "api.example.com", 8443, hosts.HTTP, false},
		{"http://api.example.com", "api.example.com", 80, hosts.HTTP, true},
		{"http://api.example.com", "api.example.com", 80, hosts.HTTPS, false},
		{"http://api.example.com", "api.example.com", 443, hosts.HTTPS, false},
		{"*.example.com", "api.example.com", 443, hosts.HTTPS, true},
		{"*.example.com", "v1.api.example.com", 443, hosts.HTTPS, true},
		{"*.example.com", "example.com", 443, hosts.HTTPS, false},
		{"*.example.com", ".example.com", 443, hosts.HTTPS, false},
		{"*.example.com", "*.example.com", 443, hosts.HTTPS, false},
		{"*.example.com", "evilexample.com", 443, hosts.HTTPS, false},
		{"*.example.com", "evil.example:443.example.com", 443, hosts.HTTPS, false},
		{"*.example.com", "evil.example\x00.example.com", 443, hosts.HTTPS, false},
		{"*.example.com", "evil.example/.example.com", 443, hosts.HTTPS, false},
		{"*.example.com", "bücher.example.com", 443, hosts.HTTPS, false}, // never over the wire
		{"*.example.com", "xn--bcher-kva.example.com", 443, hosts.HTTPS, true},
	} {
		if got := matches(rule(t, test.rule), test.host, test.port, test.scheme); got != test.want {
			t.Errorf("%s: matches(%q, %d, %s) = %t", test.rule, test.host, test.port, test.scheme, got)
		}
	}
	if matches(hosts.Rule{}, "", 0, "") || (hosts.Rule{}).Covers(hosts.Rule{}) {
		t.Error("the zero rule allows something")
	}
}

// matches reports whether a rule allows what a program asks for.
func matches(rule hosts.Rule, host string, port int, scheme hosts.Scheme) bool {
	wanted, err := hosts.New(scheme, host, port)
	return err == nil && rule.Covers(wanted)
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule, other string
		want        bool
	}{
		{"api.example.com", "api.example.com", true},
		{"*.example.com", "api.example.com", true},
		{"*.example.com", "*.example.com", true},
		{"*.example.com", "*.api.example.com", true},
		{"*.api.example.com", "*.example.com", false},
		{"api.example.com", "*.api.example.com", false},
		{"*.example.com", "example.com", false},
		{"*.example.com", "http://api.example.com", false},
		{"*.example.com", "api.example.com:8443", false},
	} {
		if got := rule(t, test.rule).Covers(rule(t, test.other)); got != test.want {
			t.Errorf("%s covers %s = %t", test.rule, test.other, got)
		}
		if got := hosts.Allow([]hosts.Rule{rule(t, "other.example"), rule(t, test.rule)}, rule(t, test.other)); got != test.want {
			t.Errorf("Allow(%s, %s) = %t", test.rule, test.other, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"api.example.com", "*.example.com", "http://api.example.com:8080/", "Bücher.example", "127.1", "0x7f.1", "[::1]:443",
		"api.example.com:443.evil.example", "a\x00b", "*.*", "user@host", "１２７.0.0.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := hosts.Parse(text)
		if err != nil {
			return
		}
		if again, err := hosts.Parse(rule.String()); err != nil || again != rule {
			t.Errorf("Parse(%q) is %v, which is read as %v, %v", text, rule, again, err)
		}
		subdomains := strings.HasPrefix(strings.TrimPrefix(rule.String(), "http://"), "*.")
		if matches(rule, rule.Name(), rule.Port(), rule.Scheme()) == subdomains {
			t.Errorf("Parse(%q) is %v, and matches its own name: %t", text, rule, !subdomains)
		}
	})
}

func TestReach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hosts.Reach{
		"api.example.com": hosts.Anywhere, "*.example.com": hosts.Anywhere, "local.example.com": hosts.Anywhere, "mylocal.net": hosts.Anywhere,
		"localhost": hosts.OwnLoopback, "http://LOCALHOST:8080": hosts.OwnLoopback, "app.localhost": hosts.OwnLoopback,
		"registry": hosts.PrivateNetwork, "registry:5000": hosts.PrivateNetwork, "printer.local": hosts.PrivateNetwork,
		"*.svc.cluster.local": hosts.PrivateNetwork, "nas.home.arpa": hosts.PrivateNetwork, "api.internal": hosts.PrivateNetwork, "home.arpa": hosts.PrivateNetwork,
		"api.example": hosts.Nowhere, "x.onion": hosts.Nowhere, "host.invalid": hosts.Nowhere,
	} {
		rule, err := hosts.Parse(text)
		if got := rule.Reach(); err != nil || got != want {
			t.Errorf("%s: %v, want %v (%v)", text, got, want, err)
		}
	}
}
