package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/internal/redact"
)

var (
	errUnreadable = &fault{SourceFailed, "it cannot be read", "Look at the source that the configuration names."}
	errTooLong    = &fault{Unusable, fmt.Sprintf("it is longer than %d bytes", MaxBytes), "Have the source hold nothing but the value."}
)

// learnTimeout is how long a file may keep a command waiting that does not need it.
const learnTimeout = time.Second

// Learn has a set know the value of a source that can be read at once, with nobody
// being asked: a variable or a file. It is for what was written before, such as
// changes that wait to be applied, and may be shown by a process that has no other
// need of the value. What cannot be read is left to [Store.Value] to tell.
func Learn(set *redact.Set, name string, source Source) {
	store := New(Options{Redact: set, Timeout: learnTimeout})
	defer store.Close()
	if source.kind == environment || source.kind == file {
		_, _ = store.Value(context.Background(), name, source)
	}
}

func readVariable(name string) (string, error) {
	value, set := os.LookupEnv(name)
	if !set {
		return "", &fault{NotFound, "the variable is not set where the server was started",
			"Set it for the server, as in the host's registration of it, or name another source."}
	}
	return value, nil
}

// readFile reads a regular file; links to one are the user's own.
func (s *Store) readFile(source Source) (string, error) {
	path, err := expandHome(source.text)
	if err != nil {
		return "", &fault{NotFound, err.Error(), "Name an absolute path."}
	}
	opened, err := os.OpenFile(path, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &fault{NotFound, "the file is not there", "Make it, or name another source."}
	case errors.Is(err, fs.ErrPermission):
		return "", &fault{SourceFailed, "the server's user may not read the file", "Let that user read it, and nobody else."}
	case err != nil:
		return "", errUnreadable
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return "", errUnreadable
	}
	if !info.Mode().IsRegular() {
		return "", &fault{SourceFailed, "it is no regular file", "Name a file that holds nothing but the value."}
	}
	s.warnOfReaders(source, info)
	// The end of a line comes on top.
	content, err := io.ReadAll(io.LimitReader(opened, MaxBytes+3))
	if err != nil {
		return "", errUnreadable
	}
	return withoutLineEnd(string(content)), nil
}

// warnOfReaders logs once that others can read a file.
func (s *Store) warnOfReaders(source Source, info fs.FileInfo) {
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return
	}
	s.mu.Lock()
	warned := s.warned[source]
	s.warned[source] = true
	s.mu.Unlock()
	if !warned {
		s.opts.Logger.Warn("others can read the file of a secret; 'chmod 600' keeps them out", "file", source.text, "mode", info.Mode().Perm().String())
	}
}

// withoutLineEnd takes off one end of a line.
func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
