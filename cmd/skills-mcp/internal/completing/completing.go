// Package completing says what shells complete with: the names of skills, and what
// flags may be.
package completing

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/registering"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/userfiles"
)

// Add has shells complete the names of skills and the values of flags.
func Add(root *cobra.Command, flags *settings.Settings) {
	for _, command := range root.Commands() {
		switch command.Name() {
		case "inspect", "grant", "revoke", "usage":
			command.ValidArgsFunction = skillNames(flags, 1)
		case "test", "prepare":
			command.ValidArgsFunction = skillNames(flags, 0)
		case "register", "unregister":
			must(command.RegisterFlagCompletionFunc("host", cobra.FixedCompletions(registering.HostNames(), cobra.ShellCompDirectiveNoFileComp)))
		}
	}
	for _, flag := range flags.FlagNames() {
		must(root.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			words := flags.Choices(flag)
			if len(words) == 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		}))
	}
}

// must is for what only a wrong program refuses.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// skillNames completes the names of skills, at most so many; 0 means any number.
func skillNames(flags *settings.Settings, most int) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		roots, err := command.Flags().GetStringArray("root")
		if err != nil {
			roots = nil // a command that has no such flag
		}
		skills, err := skillsAt(command, flags, roots)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []cobra.Completion
		for _, skill := range skills {
			if strings.HasPrefix(skill.Name, begun) && !slices.Contains(args, skill.Name) {
				names = append(names, cobra.CompletionWithDesc(terminal.Printable(skill.Name), terminal.Shorten(skill.Description, 60)))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// skillsAt returns the skills of these roots, and says nothing of what is wrong with
// others.
func skillsAt(command *cobra.Command, flags *settings.Settings, roots []string) (skills []*catalog.Skill, err error) {
	if err := flags.Read(roots); err != nil {
		return nil, err
	}
	found, err := flags.CatalogRoots()
	if err != nil {
		return nil, err
	}
	opened, err := catalog.Open(command.Context(), catalog.Options{Roots: found, Hides: flags.Hides, Withheld: userfiles.Withheld(flags)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return opened.Snapshot().Skills(), nil
}
