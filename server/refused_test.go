package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// offline is a backend whose programs have no network, as far as it says.
type offline struct{ sandbox.Backend }

func (o offline) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	result, err := o.Backend.Run(ctx, spec)
	result.Info.Network = false
	return result, err
}

const (
	saysNetwork  = "There is no network in the sandbox"
	saysReadOnly = "The skill is read-only"
)

// TestRefusalsAreTold: what the sandbox refused a program is said where its
// output tells, and nothing where it does not.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: Free.\n---\n"))
	for _, online := range []bool{false, true} {
		c := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
			if online {
				return plain
			}
			return offline{plain}
		}).connect(t)
		for command, want := range map[string]string{
			"echo 'curl: (6) Could not resolve host: example.com' >&2; exit 6":                   saysNetwork,
			"echo 'OSError: [Errno 101] Network is unreachable'; exit 1":                         saysNetwork,
			"echo 'socket.gaierror: [Errno -3] Temporary failure in name resolution' >&2; false": saysNetwork,
			"echo 'npm error code EAI_AGAIN' >&2; exit 1":                                        saysNetwork,
			"echo 'Error: getaddrinfo ENOTFOUND registry' >&2; exit 1":                           saysNetwork,
			"echo 'OSError: [Errno 97] Address family not supported by protocol' >&2; exit 1":    saysNetwork,
			"echo 'wget: bad address '\"'x'\"; exit 1":                                           saysNetwork,
			"echo 'Could not resolve host: x' >&2":                                               "",
			"echo \"cannot create $SKILL_DIR/out: Read-only file system\" >&2; exit 2":           saysReadOnly,
			"echo \"open $SKILL_DIR/out: permission denied\" >&2; exit 2":                        saysReadOnly,
			"echo 'open out: permission denied' >&2; exit 2":                                     "",
			"echo 'connect 127.0.0.1:80: connection refused' >&2; exit 2":                        "",
		} {
			if online && want == saysNetwork {
				want = ""
			}
			run := c.exec(t, "free", map[string]any{"command": command})
			if !strings.Contains(run.Error.Hint, want) || want == "" && (strings.Contains(run.Error.Hint, saysNetwork) || strings.Contains(run.Error.Hint, saysReadOnly)) {
				t.Errorf("online %v, %s: the hint is %q, want %q", online, command, run.Error.Hint, want)
			}
		}
	}
}

// TestTimeoutForWantOfANetwork: more time is not the advice then.
func TestTimeoutForWantOfANetwork(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: Free.\n---\n"))
	c := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { return offline{plain} }).connect(t)
	hintsAtNetwork := map[string]bool{
		"npm() { sleep 1000; }; npm install left-pad":             true,
		"pip3() { sleep 1000; }; pip3 install requests":           true,
		"curl() { sleep 1000; }; curl https://example.com":        true,
		"echo 'retrying: Network is unreachable' >&2; sleep 1000": true,
		"sleep 1000":                      false,
		"npm() { sleep 1000; }; npm test": false,
	}
	runs := make(map[string]<-chan reply)
	for command := range hintsAtNetwork {
		runs[command] = c.startExec(t, "free", map[string]any{"command": command, "timeoutMs": 2000})
	}
	for command, network := range hintsAtNetwork {
		run := decodeRan(t, c.await(t, runs[command], command))
		more := strings.Contains(run.Error.Hint, "timeoutMs")
		if run.Error.Code != "execution_timeout" || strings.Contains(run.Error.Hint, saysNetwork) != network || more == network {
			t.Errorf("%s: %+v", command, run.Error)
		}
	}
}

// TestLeftBehindIsTold: a server that a program started in the background is
// gone with it, and the answer says so.
func TestLeftBehindIsTold(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: Free.\n---\n"))
	told := leaving{names: []string{"python3", "python3", "evil\n</x>\x1b"}, omitted: 2}
	c := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { told.Backend = plain; return told }).connect(t)
	a := c.call(t, "exec", map[string]any{"name": "free", "command": "echo http://127.0.0.1:8000"})
	const text = "ended with the program, 5 processes that still ran: python3, evil </x> and others\n"
	if !strings.Contains(a.text(), text) || !strings.Contains(string(a.Structured), `"leftBehind":["python3","python3","evil \u003c/x\u003e"],"leftBehindOmitted":2`) {
		t.Errorf("%s\n%s", a.text(), a.Structured)
	}
	told.names, told.omitted = nil, 0
	c = newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { told.Backend = plain; return told }).connect(t)
	if a := c.call(t, "exec", map[string]any{"name": "free", "command": "true"}); strings.Contains(a.text()+string(a.Structured), "ended with") {
		t.Errorf("%s", a.text())
	}
}

// leaving is a backend whose programs leave processes behind.
type leaving struct {
	sandbox.Backend
	names   []string
	omitted int
}

func (l leaving) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	result, err := l.Backend.Run(ctx, spec)
	result.LeftBehind, result.LeftBehindOmitted = l.names, l.omitted
	return result, err
}
