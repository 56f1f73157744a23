package conformance

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// processes run the suite, each once at a time and again and again: there are as
// many as there are runs at once. They end with the test.
type processes struct {
	t    *testing.T
	node string
	mu   sync.Mutex
	idle []*process
}

// process is one with node/suite.mjs.
type process struct {
	*program.Process
	said *json.Decoder
}

// suiteRun is one run of the suite's command line.
type suiteRun struct {
	Code   int
	Output string // of stdout and stderr

	ended chan struct{} // closed when the rest is there
	err   error
}

// start begins a run with these arguments.
func (p *processes) start(args []string) *suiteRun {
	on := p.take()
	r := &suiteRun{ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		line, err := json.Marshal(args)
		_, written := on.Stdin.Write(append(line, '\n'))
		if r.err = errors.Join(err, written, on.said.Decode(r)); r.err == nil {
			p.put(on)
		}
	}()
	return r
}

// take returns a process that is idle, or a new one.
func (p *processes) take() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.idle) - 1; last >= 0 {
		on := p.idle[last]
		p.idle = p.idle[:last]
		return on
	}
	env := append(program.Home(p.t), "NODE_COMPILE_CACHE="+filepath.Join(scratch, "compiled"))
	started := program.Start(p.t, env, p.node, "node/suite.mjs", suiteScript)
	return &process{started, json.NewDecoder(started.Stdout)}
}

func (p *processes) put(on *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, on)
}

// wait waits for the run to end, and returns its exit code.
func (r *suiteRun) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(program.Patience):
		t.Fatalf("the suite did not end within %v", program.Patience)
	}
	if r.err != nil {
		t.Fatalf("the suite ended without an answer: %v", r.err)
	}
	return r.Code
}
