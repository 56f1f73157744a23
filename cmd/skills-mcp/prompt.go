package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/prompting"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
)

const promptLong = `Print what a system prompt says of skills, for a host that puts it there itself: as
xml (Conjure, with the paths of SKILL.md), json (RemcoChat) or packs (Capability
Packs). A host that speaks MCP needs none of it. Skills for users alone
(disable-model-invocation) are left out, and so is what your configuration hides.`

func newPromptCommand(flags *settings.Settings) *cobra.Command {
	format := "xml"
	var rules bool
	command := &cobra.Command{
		Use:     "prompt [ROOT...]",
		Short:   "Print what a system prompt says of skills",
		Long:    promptLong,
		Example: "  skills-mcp prompt ./my-skills\n  skills-mcp prompt --format=json --instructions",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			if !slices.Contains(prompting.Formats(), format) {
				return exit.Misused(fmt.Errorf("--format %q is none of %s", format, strings.Join(prompting.Formats(), ", ")))
			}
			return prompt(command, flags, roots, format, rules)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringVar(&format, "format", format, "`FORMAT` of the prompt: xml, json or packs")
	command.Flags().BoolVar(&rules, "instructions", false, "with json and packs, add how a model uses skills with the tools of this server")
	hideInherited(command)
	return command
}

func prompt(command *cobra.Command, flags *settings.Settings, roots []string, format string, rules bool) error {
	if err := flags.Read(roots); err != nil {
		return err
	}
	from, err := flags.CatalogRoots()
	if err != nil {
		return err
	}
	skills, err := openCatalog(command.Context(), flags, slog.New(slog.DiscardHandler), from)
	if err != nil {
		return err
	}
	defer skills.Close()
	if err := prompting.Write(command.OutOrStdout(), format, skills.Snapshot().ForModels(), rules); err != nil {
		return err
	}
	return flags.ProjectFault()
}
