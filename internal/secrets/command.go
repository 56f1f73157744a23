package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// killGrace is how long the streams of a program that was killed are waited for.
const killGrace = time.Second

var errTimeout = &fault{SourceTimeout, "it was not read in time",
	"Unlock the keyring or password store first, and make sure that it asks in a window: the server has no terminal."}

// readCommand returns what a program writes. It is killed when the context ends,
// with the processes that it started.
func readCommand(ctx context.Context, text string) (string, error) {
	argv, err := words(text)
	if err != nil {
		return "", errUnreadable // it was parsed before
	}
	program, err := findProgram(argv[0])
	if err != nil {
		return "", &fault{NotFound, "there is no such program", "Install it, or name another source."}
	}
	killed, kill := context.WithCancel(ctx)
	defer kill()
	written := &bounded{full: kill}
	run := exec.CommandContext(killed, program, argv[1:]...)
	run.Stdout = written // and its standard error nowhere, since it may show the value
	run.Dir = outside(program)
	run.WaitDelay = killGrace
	killTree(run)
	err = run.Run()
	var exit *exec.ExitError
	switch {
	case written.over:
		return "", errTooLong
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", errTimeout
	case ctx.Err() != nil:
		return "", &fault{SourceFailed, "the server is ending", "Start it again."}
	case errors.As(err, &exit):
		return "", &fault{SourceFailed, fmt.Sprintf("the program failed (%s)", exit.ProcessState), "Run it in a terminal to see why."}
	case err != nil:
		return "", &fault{SourceFailed, "the program cannot be run", "Run it in a terminal to see why."}
	}
	return withoutLineEnd(written.text.String()), nil
}

// findProgram returns the absolute path of a program.
func findProgram(name string) (string, error) {
	name, err := expandHome(name)
	if err == nil {
		name, err = exec.LookPath(name)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(name)
}

// outside returns the directory in which a program is run: the user's own, or
// that of the program. The server's may be a project of somebody else's, and
// there are programs that take settings or modules from where they are run.
func outside(program string) string {
	home, err := os.UserHomeDir()
	if info, statErr := os.Stat(home); err != nil || statErr != nil || !info.IsDir() || !filepath.IsAbs(home) {
		return filepath.Dir(program)
	}
	return home
}

// bounded keeps as much as a value and the end of its line may have.
type bounded struct {
	text strings.Builder
	over bool
	full func() // called when there is more
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > MaxBytes+2 {
		b.over = true
		b.full()
		return 0, errors.New("too much output")
	}
	return b.text.Write(p)
}
