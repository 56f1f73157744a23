package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// answerTimeout is how long a server may take for one answer.
const answerTimeout = 2 * time.Minute

// command is how a side's server is started.
type command struct {
	name string
	args []string
}

// session is a server on standard input and output, with its one client.
type session struct {
	process *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte // that the server wrote; closed at their end
	stderr  *bytes.Buffer
	next    int
}

// environ is an environment of the run's own: nothing of the user is read.
func (b *bench) environ() []string {
	home := filepath.Join(b.dir, "home")
	return []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TMPDIR=" + b.dir,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "SKILLS_MCP_CONFIG=" + os.DevNull, "SKILLS_MCP_PROJECT=off",
		"DOCKER_HOST=" + os.Getenv("DOCKER_HOST"), "FASTMCP_SHOW_SERVER_BANNER=false", "FASTMCP_LOG_LEVEL=ERROR",
	}
}

func (b *bench) start(c command) (*session, error) {
	process := exec.Command(c.name, c.args...)
	process.Env, process.Dir = b.environ(), b.dir
	s := &session{process: process, lines: make(chan []byte, 1024), stderr: &bytes.Buffer{}}
	process.Stderr = s.stderr
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in = in
	if err := process.Start(); err != nil {
		return nil, err
	}
	go s.read(out)
	return s, nil
}

func (s *session) read(out io.Reader) {
	defer close(s.lines)
	reader := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			s.lines <- line
		}
		if err != nil {
			return
		}
	}
}

// message is what matters of a JSON-RPC message.
type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// await returns the first message that is wanted.
func (s *session) await(wanted func(message) bool) (message, error) {
	timeout := time.After(answerTimeout)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return message{}, fmt.Errorf("the server ended: %s", s.stderr)
			}
			var m message
			if err := json.Unmarshal(line, &m); err != nil {
				return message{}, err
			}
			if wanted(m) {
				return m, nil
			}
		case <-timeout:
			return message{}, errors.New("no answer in time")
		}
	}
}

// notified waits for a notification.
func (s *session) notified(method string) error {
	_, err := s.await(func(m message) bool { return m.Method == method })
	return err
}

// drain forgets what came meanwhile.
func (s *session) drain() {
	for {
		select {
		case <-s.lines:
		default:
			return
		}
	}
}

// ask sends a request and returns its result.
func (s *session) ask(method string, params any) (json.RawMessage, error) {
	s.next++
	id := s.next
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	answer, err := s.await(func(m message) bool { return m.Method == "" && m.ID != nil && *m.ID == id })
	if err == nil && answer.Error != nil {
		err = fmt.Errorf("%s: %s", method, answer.Error)
	}
	return answer.Result, err
}

func (s *session) send(message any) error {
	encoded, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(encoded, '\n'))
	return err
}

// handshake is what a client begins with.
var handshake = map[string]any{
	"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
	"clientInfo": map[string]any{"name": "bench", "version": "1"},
}

// initialize does the handshake.
func (s *session) initialize() error {
	if _, err := s.ask("initialize", handshake); err != nil {
		return err
	}
	return s.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// call calls a tool that is to succeed.
func (s *session) call(tool string, arguments any) error {
	result, err := s.ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return err
	}
	var answer struct{ IsError bool }
	if err := json.Unmarshal(result, &answer); err != nil {
		return err
	}
	if answer.IsError {
		return fmt.Errorf("%s: %.500s", tool, result)
	}
	return nil
}

// listAll asks for all pages of a list.
func (s *session) listAll(method string) error {
	params := map[string]any{}
	for {
		result, err := s.ask(method, params)
		if err != nil {
			return err
		}
		var page struct{ NextCursor string }
		if err := json.Unmarshal(result, &page); err != nil {
			return err
		}
		if page.NextCursor == "" {
			return nil
		}
		params["cursor"] = page.NextCursor
	}
}

// close ends the server as a host does: by the end of its input, and if need be
// by force.
func (s *session) close() {
	_ = s.in.Close()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = s.process.Process.Kill() })()
	for range s.lines { // until it has closed its output
	}
	_ = s.process.Wait()
}

// opened starts a server and does the handshake.
func (b *bench) opened(c command) (*session, error) {
	s, err := b.start(c)
	if err != nil {
		return nil, err
	}
	if err := s.initialize(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// builds returns a side for each build of ours, which run makes of how it is
// started with arguments.
func (b *bench) builds(make func(name string, c command) (side, error), args ...string) ([]side, error) {
	var sides []side
	for _, build := range []struct{ name, binary string }{{ours, b.binary}, {base, b.base}} {
		if build.binary == "" {
			continue
		}
		made, err := make(build.name, command{build.binary, args})
		if err != nil {
			return sides, fmt.Errorf("%s: %w", build.name, err)
		}
		sides = append(sides, made)
	}
	return sides, nil
}
