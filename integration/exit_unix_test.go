//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testprocess"
)

// However the server is told to go, it goes, and what it started goes with it.
func TestExitLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(w *wire) error
	}{
		{"end of stdin", func(w *wire) error { return w.Stdin.Close() }},
		{"SIGTERM", func(w *wire) error { return w.Cmd.Process.Signal(syscall.SIGTERM) }},
		{"SIGINT", func(w *wire) error { return w.Cmd.Process.Signal(syscall.SIGINT) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := program.Home(t)
			w := dial(t, env, t.TempDir())
			w.handshake(t)
			if err := test.end(w); err != nil {
				t.Fatal(err)
			}
			if code := w.ExitCode(t); code != 0 {
				t.Errorf("idle, the server exits with %d, want 0", code)
			}
			checkNoFilesLeft(t, env)
		})
		t.Run(test.name+" while a program runs", func(t *testing.T) {
			t.Parallel()
			env := program.Home(t)
			w, pids := sleeping(t, env)
			if err := test.end(w); err != nil {
				t.Fatal(err)
			}
			if code := w.ExitCode(t); code == -1 {
				t.Errorf("the server did not exit by itself: %v", w.Cmd.ProcessState)
			}
			program.Eventually(t, fmt.Sprintf("the processes %v are gone", pids), func() bool {
				return !testprocess.Alive(pids[0]) && !testprocess.Alive(pids[1])
			})
			checkNoFilesLeft(t, env)
		})
	}
}

// checkNoFilesLeft looks for workspaces and the like that outlived the server.
func checkNoFilesLeft(t *testing.T, env []string) {
	t.Helper()
	left, err := os.ReadDir(program.Environ(env)["TMPDIR"])
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("the server leaves %v in its temporary directory", left)
	}
}

// sleeping starts a server whose client has a program running, and returns
// the program's process and that process's child.
func sleeping(t *testing.T, env []string) (*wire, [2]int) {
	t.Helper()
	root, pidFile := t.TempDir(), filepath.Join(t.TempDir(), "pids")
	writeSkill(t, root, "night", "Sleeps.")
	writeFile(t, filepath.Join(root, "night/scripts/sleep.sh"),
		"#!/bin/sh\nsleep 600 &\necho $$ $! >\"$1.part\" && mv \"$1.part\" \"$1\"\nwait\n")
	w := dial(t, env, "--sandbox=unsafe-host", root)
	w.handshake(t)
	w.request(t, "tools/call", map[string]any{"name": "exec", "arguments": map[string]any{
		"name": "night", "script": "scripts/sleep.sh", "args": []string{pidFile},
	}})
	var pids [2]int
	program.Eventually(t, "the script runs", func() bool {
		text, err := os.ReadFile(pidFile)
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(text), &pids[0], &pids[1])
		return err == nil
	})
	for _, pid := range pids {
		if !testprocess.Alive(pid) {
			t.Fatalf("process %d is gone before the end", pid)
		}
	}
	return w, pids
}
