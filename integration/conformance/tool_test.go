package conformance

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// tool is a Node.js program that reads nothing, prints and ends.
type tool struct {
	*program.Process
	stdout program.Output
	read   chan struct{} // closed when stdout is whole
}

func startTool(t *testing.T, node string, args ...string) *tool {
	t.Helper()
	// Each is the same large script, which V8 compiles once for all.
	env := append(program.Home(t), "NODE_COMPILE_CACHE="+filepath.Join(scratch, "compiled"))
	p := &tool{Process: program.Start(t, env, node, args...), read: make(chan struct{})}
	p.Stdin.Close()
	go func() {
		defer close(p.read)
		io.Copy(&p.stdout, p.Stdout)
	}()
	return p
}

// exitCode waits for the tool to end and for all that it printed. It is -1
// when a signal ended it.
func (p *tool) exitCode(t *testing.T) int {
	t.Helper()
	code := p.ExitCode(t)
	<-p.read
	return code
}
