package integration

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// grantedSamples is the root of the sample skills that are of no use before they
// are granted something.
const grantedSamples = "../testdata/skills/granted"

// What the sample weather-report asks, and the key that it needs for one of them.
const (
	weatherService    = "api.weather.test-service.net"
	statisticsService = "statistics.test-service.net"
	weatherKey        = "sk-weather-51f0c2a97d"
)

// internet is what the server under test takes for it: a proxy of its user, which
// leads all names to servers of the test.
type internet struct {
	t     *testing.T
	home  []string
	https *httptest.Server // of every name
	http  *httptest.Server // the proxy, and every name without TLS

	mu   sync.Mutex
	seen []string // requests that arrived: host, path and authorization
}

func newInternet(t *testing.T) *internet {
	t.Helper()
	_, err := exec.LookPath("python3")
	testenv.Need(t, "python3", err)
	n := &internet{t: t}
	n.https = httptest.NewUnstartedServer(http.HandlerFunc(n.serve))
	certificate, authority := newCertificate(t, weatherService, statisticsService)
	n.https.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	n.https.StartTLS()
	n.http = httptest.NewServer(http.HandlerFunc(n.proxy))
	t.Cleanup(n.https.Close)
	t.Cleanup(n.http.Close)
	n.home = append(program.Home(t), "HTTP_PROXY="+n.http.URL, "HTTPS_PROXY="+n.http.URL, "SSL_CERT_FILE="+authority, "SKILLS_MCP_CONFIG=", "WEATHER_KEY="+weatherKey)
	return n
}

// newCertificate returns a certificate of some names, and the path of the file by
// which it is trusted.
func newCertificate(t *testing.T, names ...string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// serve is the servers of all names.
func (n *internet) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	n.seen = append(n.seen, r.Host+r.URL.Path+" "+r.Header.Get("Authorization"))
	n.mu.Unlock()
	switch {
	case r.URL.Path != "/now":
		fmt.Fprintf(w, "<html><title>Page of %s</title></html>", r.Host)
	case r.Header.Get("Authorization") == "Bearer "+weatherKey:
		fmt.Fprint(w, `{"temperature": 21, "sky": "clear"}`)
	default:
		http.Error(w, "no such key", http.StatusUnauthorized)
	}
}

// proxy is the proxy of the server's user.
func (n *internet) proxy(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		n.serve(w, r)
		return
	}
	to, err := net.Dial("tcp", n.https.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer to.Close()
	from, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	fmt.Fprint(from, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// requests returns those that arrived since the last time.
func (n *internet) requests() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen := n.seen
	n.seen = nil
	return seen
}

// run runs the program, and returns what it prints.
func (n *internet) run(args ...string) (stdout, stderr string) {
	n.t.Helper()
	command := exec.Command(program.Binary(n.t), args...)
	command.Env = n.home
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	n.checkSecret(out.String() + errs.String())
	if err != nil && out.Len() == 0 {
		n.t.Fatalf("%q: %v: %s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

// checkSecret checks that a text does not hold the key.
func (n *internet) checkSecret(text string) {
	n.t.Helper()
	if strings.Contains(text, weatherKey) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(weatherKey))) {
		n.t.Errorf("the key left the server: %s", text)
	}
}

// usedGrants is what a result says of grants.
type usedGrants struct {
	ExitCode       *int
	Stdout, Stderr string
	Granted        struct{ Network, Secrets, Withheld []string }
	Asked          []struct{ Host, Answer, Scope string }
	Used           struct {
		Hosts []struct {
			Host, Reason      string
			Requests, Refused int
		}
		Secrets []string
	}
	Sandbox struct{ Backend, Tier string }
}

// exec runs a script of a sample.
func (n *internet) exec(skill, script string, args ...string) (told usedGrants, stderr string) {
	n.t.Helper()
	input, err := json.Marshal(map[string]any{"name": skill, "script": script, "args": args})
	if err != nil {
		n.t.Fatal(err)
	}
	stdout, stderr := n.run("call", "--sandbox=local", "--network-log", "--structured", "--root", grantedSamples, "exec", string(input))
	if err := json.Unmarshal([]byte(stdout), &told); err != nil {
		n.t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	if told.Sandbox.Tier != "full" {
		n.t.Skipf("the local sandbox holds no hosts here: its tier is %s", told.Sandbox.Tier)
	}
	return told, stderr
}

// TestGrantedKey: a skill uses a service with a key that its program never has,
// and reaches nothing else, from the grant to the audit log.
func TestGrantedKey(t *testing.T) {
	t.Parallel()
	const service, statistics = weatherService, statisticsService
	n := newInternet(t)

	told, _ := n.exec("weather-report", "scripts/report.py", "Bern")
	if told.ExitCode == nil || *told.ExitCode != 1 || len(n.requests()) > 0 {
		t.Errorf("without a grant: %+v", told)
	}

	n.run("grant", "weather-report", "--root", grantedSamples, "--secret", "WEATHER_KEY", "--for", service)
	told, log := n.exec("weather-report", "scripts/report.py", "Bern")
	if told.Stdout != "Bern: 21 degrees, clear\n" || !strings.Contains(told.Stderr, "skills-mcp grant weather-report --host "+statistics) {
		t.Errorf("it prints %q and %q", told.Stdout, told.Stderr)
	}
	if requests := n.requests(); !slices.Equal(requests, []string{service + "/now Bearer " + weatherKey}) {
		t.Errorf("requests: %q", requests)
	}
	if hosts := told.Used.Hosts; len(hosts) != 2 || hosts[0].Host != service || hosts[0].Requests != 1 || hosts[1].Host != statistics ||
		hosts[1].Requests != 0 || hosts[1].Refused != 1 || hosts[1].Reason != "not_granted" {
		t.Errorf("used is %+v", told.Used)
	}
	if !slices.Equal(told.Used.Secrets, []string{"WEATHER_KEY"}) || !slices.Equal(told.Granted.Network, []string{service}) {
		t.Errorf("granted is %+v, used %+v", told.Granted, told.Used)
	}
	for _, line := range []string{`"msg":"network: allowed","skill":"weather-report","host":"` + service, `"msg":"network: refused","skill":"weather-report","host":"` + statistics} {
		if !strings.Contains(log, line) {
			t.Errorf("the log does not say %s: %s", line, log)
		}
	}
	if audited, _ := n.run("audit", "--json"); !strings.Contains(audited, `"granted":["host `+service+`","secret WEATHER_KEY"]`) ||
		!strings.Contains(audited, `"secretsSent":["WEATHER_KEY"]`) || !strings.Contains(audited, `"reason":"not_granted"`) {
		t.Errorf("recorded is %s", audited)
	}

	if told, _ := n.exec("page-fetch", "scripts/fetch.py", "https://"+service+"/now"); told.ExitCode == nil || *told.ExitCode != 1 || len(n.requests()) > 0 {
		t.Errorf("another skill has it: %+v", told)
	}
}

// TestGrantedHost: a skill reaches the host that it is granted, not another one,
// and not any more when it is taken back.
func TestGrantedHost(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.run("grant", "page-fetch", "--root", grantedSamples, "--host", "http://*.pages.test-service.net")
	told, _ := n.exec("page-fetch", "scripts/fetch.py", "http://one.pages.test-service.net/", "http://pages.test-service.net/", "http://evil.test-service.net/")
	if told.Stdout != "http://one.pages.test-service.net/: Page of one.pages.test-service.net\n" {
		t.Errorf("it prints %q and %q", told.Stdout, told.Stderr)
	}
	if requests := n.requests(); !slices.Equal(requests, []string{"one.pages.test-service.net/ "}) {
		t.Errorf("requests: %q", requests)
	}
	refused := 0
	for _, host := range told.Used.Hosts {
		refused += host.Refused
	}
	if len(told.Used.Hosts) != 3 || refused != 2 {
		t.Errorf("used is %+v", told.Used)
	}
	n.run("revoke", "page-fetch", "--host", "http://*.pages.test-service.net")
	if told, _ := n.exec("page-fetch", "scripts/fetch.py", "http://one.pages.test-service.net/"); len(n.requests()) > 0 || told.ExitCode == nil || *told.ExitCode != 1 {
		t.Errorf("after it was taken back: %+v", told)
	}
}
