package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/scaffolding"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
)

const initLong = `Make a skill to begin with, which is valid and runs. NAME is its name, and that of
its directory; with a path before it, as in skills/my-skill, it is made there.`

func newInitCommand() *cobra.Command {
	kind := "script"
	command := &cobra.Command{
		Use:     "init NAME",
		Short:   "Make a skill to begin with",
		Long:    initLong,
		Example: "  skills-mcp init my-skill\n  skills-mcp init --template=tools skills/my-skill",
		Args:    exactlyOne("a name for the skill"),
		RunE: func(command *cobra.Command, names []string) error {
			return initialize(command, names[0], kind)
		},
	}
	command.Flags().StringVar(&kind, "template", kind, "`TEMPLATE` of what is made: "+scaffolding.Help())
	hideInherited(command)
	return command
}

func initialize(command *cobra.Command, dir, kind string) error {
	if !slices.Contains(scaffolding.Templates(), kind) {
		return exit.Misused(fmt.Errorf("--template %q is none of %s", kind, strings.Join(scaffolding.Templates(), ", ")))
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if fault := catalog.NameFault(filepath.Base(whole)); fault != "" {
		return exit.Misused(fmt.Errorf("the name %q %s; use lowercase letters, digits and single hyphens", filepath.Base(whole), fault))
	}
	files, err := scaffolding.Make(whole, kind)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; nothing was made", dir)
	}
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	for _, file := range files {
		fmt.Fprintln(out, terminal.Printable(filepath.Join(dir, filepath.FromSlash(file))))
	}
	word := shellword.Name(dir)
	fmt.Fprintf(out, "\nNext: write into SKILL.md what it is for, then\n  skills-mcp validate %s\n", word)
	if slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(file, "tests/") }) {
		fmt.Fprintf(out, "  skills-mcp test --root %s\n", word)
	}
	return nil
}
