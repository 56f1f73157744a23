package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
)

// CanAsk reports whether there is a terminal to ask at.
func CanAsk(command *cobra.Command) bool {
	in, ok := command.InOrStdin().(interface{ Fd() uintptr })
	return ok && isTerminalFd(in.Fd())
}

// Ask asks a person at a terminal. Where there is none, it fails.
func Ask(command *cobra.Command, question string) (bool, error) {
	if !CanAsk(command) {
		return false, exit.Misused(errors.New("standard input is no terminal to ask at; look at the changes with 'skills-mcp changes ID', then give --yes"))
	}
	fmt.Fprintf(command.ErrOrStderr(), "%s [y/N] ", question)
	answer, err := bufio.NewReader(command.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(command.ErrOrStderr(), "Nothing was changed.")
	return false, nil
}
