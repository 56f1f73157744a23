package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/registering"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

const registerLong = `Write the entry for this server into a host's own configuration file, for all of
your projects. The host starts this binary with the ROOTs and the flags of all
commands that are given here. Everything else in the file stays as it is, comments
too, and a copy of the file is kept beside it. Where the entry is there already
nothing is written; 'skills-mcp unregister' takes it out.`

// registration is which entry is meant.
type registration struct{ host, name string }

func (r *registration) flags(command *cobra.Command) {
	command.Flags().SortFlags = false
	command.Flags().StringVar(&r.host, "host", "", "`HOST` whose file it is: claude-code, claude-desktop, vscode, cursor, codex or\ngemini")
	command.Flags().StringVar(&r.name, "name", "skills", "`NAME` by which the host calls the server")
}

// of returns the host that is meant.
func (r *registration) of() (registering.Host, error) {
	if err := registering.CheckName(r.name); err != nil {
		return registering.Host{}, exit.Misused(err)
	}
	host, err := registering.Find(r.host)
	if err != nil {
		return registering.Host{}, exit.Misused(err)
	}
	return host, nil
}

func newRegisterCommand(flags *settings.Settings) *cobra.Command {
	var which registration
	var printOnly bool
	command := &cobra.Command{
		Use:     "register --host HOST [ROOT...]",
		Short:   "Have a host start this server",
		Long:    registerLong,
		Example: "  skills-mcp register --host claude-desktop ~/my-skills\n  skills-mcp register --host codex --sandbox=local --print",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			host, err := which.of()
			if err != nil {
				return err
			}
			entry, err := ownEntry(flags, roots)
			if err != nil {
				return err
			}
			if printOnly {
				_, err := command.OutOrStdout().Write(host.Show(which.name, entry))
				return err
			}
			return register(command, flags, host, which.name, entry, roots)
		},
	}
	which.flags(command)
	command.Flags().BoolVar(&printOnly, "print", false, "print the entry and write nothing")
	return command
}

func newUnregisterCommand() *cobra.Command {
	var which registration
	command := &cobra.Command{
		Use:     "unregister --host HOST",
		Short:   "Have a host start this server no more",
		Long:    "Take the entry for this server out of a host's own configuration file. Everything\nelse in it stays as it is, and a copy of the file is kept beside it.",
		Example: "  skills-mcp unregister --host claude-desktop",
		Args:    exit.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			host, err := which.of()
			if err != nil {
				return err
			}
			change, err := host.Unregister(which.name, time.Now())
			if err != nil {
				return err
			}
			if !change.Changed {
				fmt.Fprintf(command.OutOrStdout(), "%s has no server %q.\n", terminal.Printable(host.File), which.name)
				return nil
			}
			fmt.Fprintf(command.OutOrStdout(), "Took %q out of %s; what it was is in %s.\n", which.name, terminal.Printable(host.File), terminal.Printable(change.Backup))
			return nil
		},
	}
	which.flags(command)
	return command
}

// ownEntry is the entry by which a host starts this binary as it was called.
func ownEntry(flags *settings.Settings, roots []string) (registering.Entry, error) {
	binary, err := ownBinary()
	if err != nil {
		return registering.Entry{}, err
	}
	arguments, err := flags.CommandLine(roots)
	return registering.Entry{Command: binary, Args: arguments}, err
}

// ownBinary returns the absolute path of this binary: the one on PATH where that is
// it, which may be a link that an update leads elsewhere.
func ownBinary() (string, error) {
	binary, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the path of this program is not known: %w", err)
	}
	named, err := exec.LookPath("skills-mcp")
	if err != nil {
		return binary, nil
	}
	if named, err = filepath.Abs(named); err != nil {
		return binary, nil
	}
	a, errA := os.Stat(named)
	b, errB := os.Stat(binary)
	if errors.Join(errA, errB) == nil && os.SameFile(a, b) {
		return named, nil
	}
	return binary, nil
}

func register(command *cobra.Command, flags *settings.Settings, host registering.Host, name string, entry registering.Entry, roots []string) error {
	if err := checkNoSkill(command, flags, name, roots); err != nil {
		return err
	}
	change, err := host.Register(name, entry, time.Now())
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if !change.Changed {
		fmt.Fprintf(out, "%s has this server already, as %q.\n", terminal.Printable(host.File), name)
		return nil
	}
	fmt.Fprintf(out, "Registered as %q in %s.\n", name, terminal.Printable(host.File))
	if change.Backup != "" {
		fmt.Fprintf(out, "What it was is in %s.\n", terminal.Printable(change.Backup))
	}
	fmt.Fprintf(out, "%s.\n", host.Again)
	return nil
}

// checkNoSkill refuses flags and ROOTs with which the server would not start, and
// the name of a skill: hosts leave out a server that is called like one.
func checkNoSkill(command *cobra.Command, flags *settings.Settings, name string, roots []string) error {
	flags.Quiet = true
	if err := flags.Read(roots); err != nil {
		return err
	}
	log, err := flags.Logger(command.ErrOrStderr())
	if err != nil {
		return err
	}
	found, err := flags.CatalogRoots()
	if err != nil {
		return err
	}
	opened, err := openCatalog(command.Context(), flags, log, found)
	if err != nil {
		return err
	}
	defer opened.Close()
	if _, isSkill := opened.Snapshot().Lookup(name); isSkill {
		return exit.Misused(fmt.Errorf("one of the skills is called %q too, and hosts leave out a server with that name; choose another one with --name", name))
	}
	return nil
}
