package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/calling"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/server"
)

const callLong = `Call one tool in-process and print what a model would see.

Arguments are key=value pairs, or one JSON object. Values are text, but for the
numbers offset, length and timeoutMs; write key:=JSON for any other kind, as in
args:='["--top","3"]'. The exit code is 1 where the tool reports an
error. On a terminal, control characters are shown as \u001b, and where a
program changed your files it shows the changes and asks whether to apply them;
elsewhere it names the command that does. The workspace ends with the call:
--out keeps the files that were made in it.`

func newCallCommand(flags *settings.Settings) *cobra.Command {
	var roots []string
	var show shownAs
	command := &cobra.Command{
		Use:   "call [--root DIR...] TOOL [key=value... | JSON]",
		Short: "Call a tool and print what a model would see",
		Long:  callLong,
		Example: `  skills-mcp call findSkills query="spreadsheet"
  skills-mcp call activate name=csv-profile
  skills-mcp call --sandbox=unsafe-host exec '{"name":"csv-profile","script":"scripts/profile_csv.py","args":["--sample"]}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Misused(fmt.Errorf("call needs the name of a tool"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			given, err := calling.Parse(args[1:])
			if err != nil {
				return exit.Misused(err)
			}
			return call(command, flags, roots, args[0], given, show)
		},
	}
	command.Flags().SortFlags = false
	rootFlag(command, &roots)
	command.Flags().StringVar(&show.out, "out", "", "keep the files that a program made, in `DIR`, where nothing is overwritten")
	command.Flags().BoolVar(&show.structured, "structured", false, "print the structured content as JSON, where the tool gives it")
	return command
}

// shownAs is how an answer is shown, and where the files that were made are kept.
type shownAs struct {
	structured bool
	out        string
}

func call(command *cobra.Command, flags *settings.Settings, roots []string, tool string, given calling.Arguments, show shownAs) error {
	called, kept, err := callTool(command, flags, roots, tool, given, show.out)
	if err != nil && called.Text == "" {
		return err
	}
	out, text := command.OutOrStdout(), strings.TrimRight(shown(called, show.structured), "\n")
	if terminal.Is(out) {
		text = terminal.Escaped(text)
	}
	fmt.Fprintln(out, text)
	if show.structured {
		out = command.ErrOrStderr() // standard output is one JSON object
	}
	fmt.Fprint(out, kept)
	if err != nil {
		return err
	}
	if err := changesets.Offer(command, flags, called); err != nil {
		return err
	}
	if called.IsError {
		return exit.ErrReported
	}
	return nil
}

// callTool calls a tool of a server that ends with the call, and says which files
// it kept. With an answer, the error is that they cannot be.
func callTool(command *cobra.Command, flags *settings.Settings, roots []string, tool string, given calling.Arguments, out string) (called server.Called, kept string, err error) {
	ctx := command.Context()
	flags.Quiet = true // the answer is what was asked for
	runtime, err := open(ctx, flags, command.ErrOrStderr(), roots)
	if err != nil {
		return called, "", err
	}
	defer runtime.close()
	types, err := argumentTypes(runtime.server.Tools(), tool)
	if err != nil {
		return called, "", exit.Misused(err)
	}
	encoded, err := given.Encode(types)
	if err != nil {
		return called, "", err
	}
	if called, err = runtime.server.Call(ctx, tool, encoded); err != nil || out == "" {
		return called, "", err
	}
	kept, err = calling.ArtifactsOf(called).Keep(runtime.workspaces, out)
	return called, kept, err
}

func shown(called server.Called, structured bool) string {
	if structured && called.Structured != nil {
		return string(called.Structured)
	}
	return called.Text
}

// argumentTypes returns the types of a tool's arguments.
func argumentTypes(tools []server.Tool, name string) (map[string]string, error) {
	var names []string
	for _, tool := range tools {
		if tool.Name == name {
			return tool.Types, nil
		}
		names = append(names, tool.Name)
	}
	return nil, fmt.Errorf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}
