package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/zalando/go-keyring"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// busConfig is that of a bus on which nothing is started but what the test starts.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`

// keyringSession is a session of a user that has a keyring, apart from that of
// whoever runs the test.
type keyringSession struct{ environ []string }

// newKeyringSession starts a bus and GNOME's keyring, until the test ends.
func newKeyringSession(t *testing.T) *keyringSession {
	t.Helper()
	bus, busErr := exec.LookPath("dbus-daemon")
	daemon, daemonErr := exec.LookPath("gnome-keyring-daemon")
	testenv.Need(t, "keyring", errors.Join(busErr, daemonErr))
	home := t.TempDir()
	socket := filepath.Join(home, "bus")
	s := &keyringSession{[]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=" + socket, "GSETTINGS_BACKEND=memory",
	}}
	config := filepath.Join(home, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(t, "", bus, "--config-file="+config, "--nofork")
	eventually(t, func() error { _, err := os.Stat(socket); return err })
	s.start(t, "password of the test", daemon, "--foreground", "--unlock", "--components=secrets")
	eventually(t, func() error { return s.ask("keyring-set", "example.com/api", "me", "value-of-a-keyring").err })
	return s
}

// start starts a process of the session with that on its standard input.
func (s *keyringSession) start(t *testing.T, input, program string, args ...string) {
	t.Helper()
	run := exec.Command(program, args...)
	run.Env, run.Stdin = s.environ, strings.NewReader(input)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
	})
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	err := check()
	for deadline := time.Now().Add(30 * time.Second); err != nil; err = check() {
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// said is what a process of the session wrote.
type said struct {
	text string
	err  error
}

// ask runs this program as a process of the session.
func (s *keyringSession) ask(what string, args ...string) said {
	run := exec.Command(os.Args[0], append([]string{"as-source", what}, args...)...)
	run.Env = s.environ
	text, err := run.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", what, err, text)
	}
	return said{string(text), err}
}

// asKeyringUser is what such a process does.
func asKeyringUser(what string, args []string) error {
	switch what {
	case "keyring-set":
		return keyring.Set(args[0], args[1], args[2])
	case "keyring-lock":
		bus, err := dbus.SessionBus()
		if err != nil {
			return err
		}
		service := bus.Object("org.freedesktop.secrets", "/org/freedesktop/secrets")
		return service.Call("org.freedesktop.Secret.Service.Lock", 0, []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"}).Err
	}
	source, err := secrets.Parse(args[0])
	if err != nil {
		return err
	}
	store := secrets.New(secrets.Options{Redact: &redact.Set{}, Timeout: 5 * time.Second})
	defer store.Close()
	value, err := store.Value(context.Background(), "KEY", source)
	var failed *secrets.Error
	if errors.As(err, &failed) {
		fmt.Printf("%s: %s", failed.Code, failed.Reason)
		return nil
	}
	fmt.Print(value)
	return err
}

// TestSecretService: an entry of a real keyring is read; that it is not there, is
// locked, or that nobody keeps it, is told apart.
func TestSecretService(t *testing.T) {
	t.Parallel()
	s := newKeyringSession(t)
	check := func(source, want string) {
		t.Helper()
		if got := s.ask("keyring-value", source); got.err != nil || !strings.HasPrefix(got.text, want) {
			t.Errorf("%s: %q, %v; want %q", source, got.text, got.err, want)
		}
	}
	check("keyring:example.com/api/me", "value-of-a-keyring")
	check("keyring:example.com/api/nobody", string(secrets.NotFound)+": the keyring has no such entry")
	if locked := s.ask("keyring-lock"); locked.err != nil {
		t.Fatal(locked.err)
	}
	check("keyring:example.com/api/me", string(secrets.SourceFailed)+": the keyring cannot be asked, or is locked")
}
