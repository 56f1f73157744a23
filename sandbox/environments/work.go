package environments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

const (
	stepTimeout   = 15 * time.Minute
	maxStepOutput = 8 << 10
	// maxLockBytes bounds each file that a step hands over.
	maxLockBytes = 16 << 20
	// notFound is with what scripts end where a program is missing.
	notFound = 127
)

// work is the making of one environment, in a workspace.
type work struct {
	ctx       context.Context
	store     *Store
	request   Request
	workspace workspaces.Workspace
	release   func()
	// dir is the workspace: what programs of others wrote, of which none runs
	// while it is read.
	dir *os.Root

	lock         lock
	name         string // the digest of lock
	interpreters []interpreter
	modules      map[string]lockedModule // of lock.Npm
}

// begin makes a workspace for making an environment.
func (s *Store) begin(ctx context.Context, request Request) (*work, error) {
	w := &work{ctx: ctx, store: s, request: request, lock: lock{Format: formatVersion, Machine: s.Machine}}
	if len(request.Python) > 0 {
		var err error
		if w.lock.UV, err = s.keepTool(request.UV); err != nil {
			return nil, err
		}
	}
	var err error
	if w.workspace, err = request.Workspaces.Create("prepare"); err != nil {
		return nil, err
	}
	w.release = w.workspace.Acquire()
	if w.dir, err = os.OpenRoot(w.workspace.Dir); err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

// close gives the workspace back. Its store removes it.
func (w *work) close() error {
	w.release()
	return w.dir.Close()
}

func (w *work) say(line string) {
	if w.request.Progress != nil {
		w.request.Progress(line)
	}
}

// step is one program of ours that is run in the sandbox.
type step struct {
	name   string // "resolve the Python packages"
	needs  string // "Python": what its script ends with 127 without
	script string
	env    map[string]string
	// online has it reach the index.
	online bool
}

// run runs a step.
func (w *work) run(s step) error {
	w.say(strings.ToUpper(s.name[:1]) + s.name[1:])
	spec := sandbox.Spec{
		Shell: s.script, Env: map[string]string{}, Owner: "prepare", Caller: "prepare",
		Workspace: w.workspace.Dir, Private: w.workspace.Private,
		Limits: sandbox.Limits{
			Timeout: stepTimeout, OutputBytes: maxStepOutput, FileBytes: w.store.maxBytes(),
			// Downloads, and what was unpacked.
			WorkspaceBytes: 2*w.store.maxBytes() + 1<<28, WorkspaceFiles: 3*w.store.maxFiles() + 1000,
		},
	}
	if w.lock.UV != "" {
		tool := filepath.Join(w.store.Dir, toolsDir, w.lock.UV)
		spec.Show, spec.Env["UV"] = []string{tool}, filepath.Join(tool, "uv")
	}
	maps.Copy(spec.Env, s.env)
	if s.online {
		egress, err := w.request.Egress()
		if err != nil {
			return err
		}
		spec.Egress = egress
		maps.Copy(spec.Env, w.request.EgressEnv)
		maps.Copy(spec.Env, w.request.Indexes.env())
		spec.Env["UV_HTTP_RETRIES"], spec.Env["UV_HTTP_TIMEOUT"], spec.Env["INDEX_TIMEOUT"] = "1", w.request.indexTimeout(), w.request.indexTimeout()
	}
	result, err := w.request.Backend.Run(w.ctx, spec)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case result.Status == sandbox.QuotaExceeded, result.Signal == "SIGXFSZ":
		return w.store.tooLarge()
	case result.Status == sandbox.Exited && result.ExitCode == 0:
		return nil
	case result.ExitCode == notFound && s.needs != "":
		return &MissingError{Program: s.needs}
	}
	failed := &StepError{Step: s.name, Output: w.request.Indexes.redacted(outputOf(result))}
	if result.Status != sandbox.Exited {
		failed.Status = string(result.Status)
	}
	return failed
}

// outputOf returns what a program said of its failure.
func outputOf(result sandbox.Result) string {
	text := string(result.Stderr.Data)
	if strings.TrimSpace(text) == "" {
		text = string(result.Stdout.Data)
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return text
}

// write writes a file for the next step.
func (w *work) write(name string, text []byte) error {
	if err := w.dir.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	file, err := w.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Chmod(0o666), file.Close())
}

// read returns a file that a step wrote.
func (w *work) read(name string) ([]byte, error) {
	info, err := w.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no file", ErrHostile, name)
	}
	file, err := w.dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxLockBytes+1))
	if err == nil && len(text) > maxLockBytes {
		err = fmt.Errorf("%w: %s has more than %d MiB", ErrTooLarge, name, maxLockBytes>>20)
	}
	return text, err
}

// certificates writes those by which indexes are trusted, and returns the
// variables that name them, relative to where a step starts.
func (w *work) certificates(up string) (map[string]string, error) {
	if w.request.Certificates == "" {
		return map[string]string{"UV_SYSTEM_CERTS": "1"}, nil
	}
	const name = "certificates.pem"
	if _, err := w.dir.Lstat(name); err != nil {
		text, err := os.ReadFile(w.request.Certificates)
		if err != nil {
			return nil, fmt.Errorf("the certificates by which indexes are trusted: %w", err)
		}
		if err := w.write(name, text); err != nil {
			return nil, err
		}
	}
	return map[string]string{"SSL_CERT_FILE": up + name, "NODE_EXTRA_CA_CERTS": up + name}, nil
}
