package remote

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

// impostor answers as an engine would, at an address of another machine, and
// counts what it is asked.
type impostor struct {
	*httptest.Server
	asked atomic.Int32
}

// elsewhereIP is the address of another machine in a network of the test's own.
var elsewhereIP = net.IPv4(192, 0, 2, 1).To4()

func newImpostor(t *testing.T, settings *tls.Config) *impostor {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(elsewhereIP.String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	i := new(impostor)
	i.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		if !strings.HasPrefix(r.RequestURI, "/") {
			t.Errorf("it is taken for a proxy: %s", r.RequestURI)
		}
		w.Header().Set("Api-Version", apiVersion)
		io.WriteString(w, `{"Os": "linux"}`)
	}))
	i.Listener.Close()
	i.Listener = listener
	i.Config.ErrorLog = log.New(io.Discard, "", 0)
	if settings == nil {
		i.Start()
	} else {
		settings.ClientAuth = tls.NoClientCert // it takes whom it can get
		i.TLS = settings
		i.StartTLS()
	}
	t.Cleanup(i.Close)
	return i
}

// inOwnNetwork runs a test once more, in a process with a network and mounts of
// its own, and reports whether it is that process.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	const inside = "SKILLS_MCP_TEST_OWN_NETWORK"
	if os.Getenv(inside) != "" {
		return true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	// A proxy is nobody to be trusted either.
	again.Env = append(os.Environ(), inside+"=1", "HTTP_PROXY=http://192.0.2.1:3128", "HTTPS_PROXY=http://192.0.2.1:3128")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	switch {
	case isRefused(err) || strings.Contains(string(out), "\n--- SKIP"):
		t.Skipf("needs namespaces: %v: %s", err, out)
	case err != nil:
		t.Errorf("%v: %s", err, out)
	default:
		t.Logf("%s", out)
	}
	return false
}

// isRefused reports whether this user may have no namespaces.
func isRefused(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSPC)
}

// beElsewhere returns this machine the address of another one, and makes
// "localhost" a name for it.
func beElsewhere(t *testing.T) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	hosts := filepath.Join(t.TempDir(), "hosts")
	err = errors.Join(
		request.SetInet4Addr(elsewhereIP),
		unix.IoctlIfreq(socket, unix.SIOCSIFADDR, request),
		os.WriteFile(hosts, []byte(elsewhereIP.String()+" localhost engine.test\n"), 0o644),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(hosts, "/etc/hosts", "", unix.MS_BIND, ""),
	)
	request.SetUint16(unix.IFF_UP)
	switch err := errors.Join(err, unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)); {
	case isRefused(err):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// Who is between this machine and the engine's must neither be asked anything,
// nor be taken for the engine.
func TestImpostors(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	beElsewhere(t)
	mine, other, public := enginetest.NewAuthority(t), enginetest.NewAuthority(t), enginetest.NewAuthority(t)
	t.Setenv("SSL_CERT_FILE", filepath.Join(public.Client(t), "ca.pem")) // whom the system trusts
	plain := newImpostor(t, nil)
	foreign := newImpostor(t, other.Server(t, elsewhereIP)) // of an authority that is not trusted
	misnamed := newImpostor(t, mine.Server(t, net.IPv4(198, 51, 100, 1)))
	common := newImpostor(t, public.Server(t, elsewhereIP))
	genuine := newImpostor(t, mine.Server(t, elsewhereIP))
	files := mine.Client(t)
	verified := map[string]string{"DOCKER_CERT_PATH": files, "DOCKER_TLS_VERIFY": "1"}
	unverified := map[string]string{"DOCKER_CERT_PATH": files}

	for name, c := range map[string]struct {
		at          *impostor
		scheme, as  string
		environment map[string]string
		want        error
	}{
		"no TLS":                          {plain, "tcp", "192.0.2.1", nil, engine.ErrInsecure},
		"no TLS, as http":                 {plain, "http", "192.0.2.1", nil, engine.ErrInsecure},
		"no TLS, by a name":               {plain, "tcp", "engine.test", nil, engine.ErrInsecure},
		"no TLS, as localhost":            {plain, "tcp", "localhost", nil, engine.ErrInsecure},
		"no TLS, as an IPv6 address":      {plain, "tcp", "[::ffff:192.0.2.1]", nil, engine.ErrInsecure},
		"no TLS, and no files to verify":  {plain, "tcp", "192.0.2.1", map[string]string{"DOCKER_TLS_VERIFY": "1"}, engine.ErrNoEngine},
		"https without TLS":               {plain, "https", "192.0.2.1", nil, engine.ErrNoEngine},
		"TLS asked for, not spoken":       {plain, "tcp", "192.0.2.1", verified, engine.ErrNoEngine},
		"not verified":                    {foreign, "tcp", "192.0.2.1", unverified, engine.ErrInsecure},
		"not verified, as https":          {foreign, "https", "192.0.2.1", unverified, engine.ErrInsecure},
		"not verified, as localhost":      {foreign, "tcp", "localhost", unverified, engine.ErrInsecure},
		"another authority":               {foreign, "tcp", "192.0.2.1", verified, engine.ErrNoEngine},
		"an authority unknown to systems": {foreign, "https", "192.0.2.1", nil, engine.ErrNoEngine},
		"an authority of systems":         {common, "tcp", "192.0.2.1", verified, engine.ErrNoEngine},
		"another machine's certificate":   {misnamed, "tcp", "192.0.2.1", verified, engine.ErrNoEngine},
	} {
		enginetest.Settings(t, nil)
		for variable, value := range c.environment {
			t.Setenv(variable, value)
		}
		_, port, _ := net.SplitHostPort(c.at.Listener.Addr().String())
		host := c.scheme + "://" + c.as + ":" + port
		e, err := engine.Dial(t.Context(), host, Access{}.Route)
		if err == nil {
			e.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: dial gives %v, want %v", name, err, c.want)
		}
		if asked := c.at.asked.Swap(0); asked > 0 {
			t.Errorf("%s: it is asked %d times", name, asked)
		}
	}
	// It is the certificate that makes the difference.
	enginetest.Settings(t, nil)
	reach(t, common.URL)
	for variable, value := range verified {
		t.Setenv(variable, value)
	}
	reach(t, "tcp://"+genuine.Listener.Addr().String())
	if genuine.asked.Load() == 0 || common.asked.Load() == 0 {
		t.Error("nobody asks the engine")
	}
}
