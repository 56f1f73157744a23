package hosts

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// serverArgs are the flags of a server that may run scripts.
func serverArgs(roots ...string) []string {
	return append([]string{"--sandbox=unsafe-host", "--log-level=warn"}, roots...)
}

// serve starts such a server over HTTP and returns its streamable HTTP
// endpoint.
func serve(t *testing.T, env []string, roots ...string) string {
	t.Helper()
	_, url := program.Serve(t, env, serverArgs(roots...)...)
	return url + "/mcp"
}

// mustRun runs a command to its end and returns its stdout.
func mustRun(t *testing.T, env []string, dir, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), program.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stderr = env, dir, &stderr
	cmd.WaitDelay = time.Second // for what holds its pipes
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", cmd, err, stdout, stderr.Bytes())
	}
	return stdout
}
