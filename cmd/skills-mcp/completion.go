package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
)

const completionLong = `Print the completions of a shell: of commands, flags, their values, and the names
of skills.`

const completionExample = `  # bash, in ~/.bashrc
  source <(skills-mcp completion bash)

  # zsh, in ~/.zshrc after compinit
  source <(skills-mcp completion zsh)

  # fish
  skills-mcp completion fish > ~/.config/fish/completions/skills-mcp.fish`

// shells have what prints a program's completions.
var shells = map[string]func(root *cobra.Command, out io.Writer) error{
	"bash":       func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) },
	"zsh":        func(root *cobra.Command, out io.Writer) error { return root.GenZshCompletion(out) },
	"fish":       func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) },
	"powershell": func(root *cobra.Command, out io.Writer) error { return root.GenPowerShellCompletionWithDesc(out) },
}

func newCompletionCommand() *cobra.Command {
	command := &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print the completions of a shell",
		Long:      completionLong,
		Example:   completionExample,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactlyOne("the name of a shell: bash, zsh, fish or powershell"),
		RunE: func(command *cobra.Command, args []string) error {
			write, known := shells[args[0]]
			if !known {
				return exit.Misused(fmt.Errorf("there are no completions for %q, but for bash, zsh, fish and powershell", args[0]))
			}
			return write(command.Root(), command.OutOrStdout())
		},
	}
	hideInherited(command)
	return command
}
