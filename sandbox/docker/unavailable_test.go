package docker_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
)

// hinted matches an error that ends with a sentence in parentheses.
var hinted = regexp.MustCompile(`(?s) \(\S.*\.\)$`)

func expectUnavailable(t *testing.T, options docker.Options, says string) {
	t.Helper()
	backend, err := docker.New(t.Context(), options)
	if err == nil {
		backend.Close()
	}
	if !errors.Is(err, sandbox.ErrUnavailable) || !hinted.MatchString(err.Error()) || !strings.Contains(err.Error(), says) {
		t.Errorf("New gives %v, want ErrUnavailable with %q", err, says)
	}
}

func TestEngineThatCannotBeUsed(t *testing.T) {
	for host, says := range map[string]string{
		"unix://" + filepath.Join(t.TempDir(), "none.sock"): "start it",
		"tcp://127.0.0.1:1":         "start it",
		"tcp://192.0.2.1:2375":      "DOCKER_TLS_VERIFY=1",
		"tcp://127.0.0.1.example":   "ssh://USER@HOST",
		"ssh://-oProxyCommand=true": `"-oProxyCommand=true" is none for ssh`,
		"tcp://me:secret@127.0.0.1": "not of the form",
		"ssh://127.0.0.1:1":         `"ssh HOST docker version"`,
		"no host at all":            "DOCKER_HOST",
	} {
		t.Setenv("DOCKER_HOST", host)
		expectUnavailable(t, docker.Options{Remote: remote.Access{}}, says)
	}
}

func TestImageThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	shared(t) // skips where there is no engine
	expectUnavailable(t, docker.Options{Image: "skills-mcp/no-such-image:none"}, `"skills-mcp image build"`)
	expectUnavailable(t, docker.Options{Image: "skills-mcp/rootfs:slim"}, "entry program")
}

func TestRuntimeThatIsNotThere(t *testing.T) {
	t.Parallel()
	shared(t)
	expectUnavailable(t, docker.Options{Runtime: "no-such-runtime"}, `no runtime "no-such-runtime", only `)
	expectUnavailable(t, docker.Options{Runtime: "no-such-runtime"}, "runc with --docker-runtime")
	backend := openWith(t, docker.Options{Runtime: "runc"})
	defer backend.Close()
	if notice := backend.Info().Notice; !strings.Contains(notice, `runtime "runc"`) {
		t.Errorf("the notice is %q", notice)
	}
}

// Podman says nothing of bounds that it does not set, where it may not make
// control groups. Such a Podman is in a machine of integration/vm.
func TestEngineThatBoundsNothing(t *testing.T) {
	host := os.Getenv("SKILLS_MCP_TEST_UNBOUNDED")
	if host == "" {
		t.Skip("there is no engine that bounds nothing; make test-all has one")
	}
	expectUnavailable(t, docker.Options{Host: host}, "no bound on its memory")
}
