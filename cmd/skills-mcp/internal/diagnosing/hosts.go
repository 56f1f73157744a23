package diagnosing

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/registering"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

const (
	// startTimeout is how long an entry may take to answer; Codex waits so long.
	startTimeout = 10 * time.Second
	// maxAnswerBytes bounds the answer, and maxLogBytes what is kept of the log.
	maxAnswerBytes = 1 << 20
	maxLogBytes    = 64 << 10
)

// initialize is what a host says first.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"skills-mcp doctor","version":"1"}}}` + "\n"

// Hosts tries what hosts have as the entry for this server.
func (r *Report) Hosts(ctx context.Context) {
	hosts, err := registering.Hosts()
	if err != nil {
		r.add("hosts", Warning, "set HOME", "%v", err)
		return
	}
	for _, host := range hosts {
		if !host.Present() {
			continue
		}
		entries, err := host.Entries()
		if err != nil {
			r.add("hosts", Warning, "correct the file: the host cannot read it either", "%v", err)
			continue
		}
		ours := 0
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if entry := entries[name]; entry.Ours() {
				ours++
				r.entry(ctx, host, name, entry)
			}
		}
		if ours == 0 {
			r.add("hosts", OK, "", "%s: not registered ('skills-mcp register --host %s' does)", host.Title, host.Name)
		}
	}
}

// entry starts what a host starts.
func (r *Report) entry(ctx context.Context, host registering.Host, name string, entry registering.Entry) {
	again := fmt.Sprintf("'skills-mcp register --host %s --name %s' writes it again", host.Name, name)
	path, err := exec.LookPath(entry.Command)
	if err != nil {
		r.add("hosts", Error, again, "%s: %q starts %s, which is not there or cannot be started", host.Title, name, entry.Command)
		return
	}
	version, err := answers(ctx, path, entry)
	switch {
	case err != nil:
		r.add("hosts", Error, "start it by hand to see more: its flags or folders may be wrong, and "+again, "%s: %q does not work: %v", host.Title, name, err)
	case !filepath.IsAbs(entry.Command):
		r.add("hosts", Warning, again+", with the whole path", "%s: %q works here, but hosts with a window do not have your shell's PATH", host.Title, name)
	default:
		r.add("hosts", OK, "", "%s: %q starts %s %s", host.Title, name, entry.Command, version)
	}
}

// answers starts an entry, and returns the version that it answers with.
func answers(ctx context.Context, path string, entry registering.Entry) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, entry.Args...)
	command.Env = os.Environ()
	for name, value := range entry.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Dir = os.TempDir() // hosts start servers anywhere
	command.WaitDelay = time.Second
	log := &tail{}
	command.Stderr = log
	in, errIn := command.StdinPipe()
	out, errOut := command.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return "", err
	}
	if err := command.Start(); err != nil {
		return "", err
	}
	_, errSent := io.WriteString(in, initialize)
	version, err = versionIn(out)
	in.Close() // which ends a server
	if err != nil {
		cancel()
	}
	_ = command.Wait() // how it ends after its answer is of no matter
	switch {
	case err == nil:
		return version, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it did not answer initialize within %v", startTimeout)
	case errSent != nil || errors.Is(err, io.EOF):
		err = errors.New("it ended before it answered initialize")
	}
	if last := log.last(); last != "" {
		err = fmt.Errorf("%w; it said: %s", err, last)
	}
	return "", err
}

// versionIn reads the answer to initialize.
func versionIn(out io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(out, maxAnswerBytes)).ReadBytes('\n')
	if err != nil {
		return "", err
	}
	var answer struct {
		Result *struct {
			ServerInfo struct{ Version string } `json:"serverInfo"`
		} `json:"result"`
	}
	if json.Unmarshal(line, &answer) != nil || answer.Result == nil {
		return "", errors.New("what it answers to initialize is no result")
	}
	return answer.Result.ServerInfo.Version, nil
}

// tail keeps the end of what is written.
type tail struct{ data []byte }

func (t *tail) Write(data []byte) (int, error) {
	t.data = append(t.data, data...)
	if over := len(t.data) - maxLogBytes; over > 0 {
		t.data = t.data[over:]
	}
	return len(data), nil
}

// last returns the last two lines.
func (t *tail) last() string {
	lines := bytes.Split(bytes.TrimSpace(t.data), []byte("\n"))
	return truncate.To(string(bytes.Join(lines[max(0, len(lines)-2):], []byte("; "))), 400)
}
