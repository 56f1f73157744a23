package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/userfiles"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

const packLong = `Pack the directory of a skill into one file, NAME.skill in the working directory,
which can be served and unpacked. The same files make the same bytes, wherever and
whenever they are packed; what tools leave behind, such as .git and .venv, is left
out. A skill with errors, as 'skills-mcp validate' has them, or with links, is not
packed.`

func newPackCommand() *cobra.Command {
	var output string
	var withHidden bool
	command := &cobra.Command{
		Use:     "pack DIR",
		Short:   "Pack a skill into one file",
		Long:    packLong,
		Example: "  skills-mcp pack skills/my-skill\n  skills-mcp pack --output dist/my-skill.skill skills/my-skill",
		Args:    exactlyOne("the directory of a skill"),
		RunE: func(command *cobra.Command, args []string) error {
			return packSkill(command, args[0], output, withHidden)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write, of the extension .skill or .zip")
	command.Flags().BoolVar(&withHidden, "with-hidden", false, "pack files too that programs never see in a project, such as .env")
	hideInherited(command)
	return command
}

func packSkill(command *cobra.Command, dir, output string, withHidden bool) error {
	name, err := nameOf(command.Context(), command.ErrOrStderr(), dir)
	if err != nil {
		return err
	}
	if output == "" {
		output = name + ".skill"
	}
	whole, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	from, err := filepath.Abs(dir)
	switch ext := filepath.Ext(output); {
	case err != nil:
		return err
	case ext != ".skill" && ext != ".zip":
		return exit.Misused(fmt.Errorf("--output %q ends in neither .skill nor .zip", output))
	case pathname.Within(whole, from):
		return exit.Misused(fmt.Errorf("%s would be a part of the skill; name another place by --output", terminal.Printable(output)))
	}
	if !withHidden {
		err = userfiles.CheckNames(os.DirFS(dir))
	}
	var packed []byte
	if err == nil {
		done := terminal.Progress(command.ErrOrStderr(), "packing "+name)
		packed, err = catalog.Pack(dir, name)
		done()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", terminal.Printable(dir), err)
	}
	if err := writePacked(command, whole, packed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(command.OutOrStdout(), "%s  sha256:%x  %d bytes\n", terminal.Printable(output), sha256.Sum256(packed), len(packed))
	return err
}

// nameOf returns the name of the skill that a directory has to be.
func nameOf(ctx context.Context, stderr io.Writer, dir string) (string, error) {
	report, err := sound(ctx, stderr, dir)
	if err != nil {
		return "", err
	}
	for _, skill := range report.Skills {
		if filepath.Dir(skill.Path) == report.Shown(dir) {
			return skill.Name, nil
		}
	}
	return "", exit.Misused(fmt.Errorf("%s is not the directory of a skill: it holds no SKILL.md", terminal.Printable(dir)))
}

// sound looks at the skills of a place, in which there may be no error. Those that
// there are it tells.
func sound(ctx context.Context, stderr io.Writer, place string) (*validating.Report, error) {
	done := terminal.Progress(stderr, "looking at what is packed")
	report, err := validating.Check(ctx, []string{place})
	done()
	if err != nil || report.Count(catalog.Error) == 0 {
		return report, err
	}
	if err := report.Write(stderr, "text"); err != nil {
		return nil, err
	}
	return nil, exit.ErrReported
}

// writePacked writes an archive in the place of what was there, once it was seen
// that a skill can be read from it.
func writePacked(command *cobra.Command, file string, packed []byte) (err error) {
	temporary, err := os.MkdirTemp(filepath.Dir(file), ".skills-mcp-pack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	written := filepath.Join(temporary, filepath.Base(file))
	if err := os.WriteFile(written, packed, 0o666); err != nil {
		return err
	}
	if _, err := sound(command.Context(), command.ErrOrStderr(), written); err != nil {
		return err
	}
	return os.Rename(written, file)
}
