package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/hosted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/anthropic"
)

const hostedLong = `Keep skills with the Claude API, so that programs which call the Messages API have
them in its containers. Whatever a skill holds is sent there, and everybody with a
key of the same workspace can use it. The key is that of $ANTHROPIC_API_KEY, or
hosted.key in the configuration says where it is. Uploads cost nothing; what runs
in containers is billed by the API.`

const hostedExample = `  skills-mcp hosted push report
  skills-mcp hosted container report
  skills-mcp hosted download file_011CNha8iCJcU1wXNR6q4V8w`

func newHostedCommand(flags *settings.Settings) *cobra.Command {
	command := &cobra.Command{
		Use:     "hosted",
		Short:   "Keep skills with the Claude API",
		Long:    hostedLong,
		Example: hostedExample,
		Args:    exit.NoArguments,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newHostedPush(flags), newHostedList(flags), newHostedVersions(flags), newHostedDelete(flags),
		newHostedContainer(flags), newHostedFiles(flags), newHostedDownload(flags))
	return command
}

// withHost has work done with the API, and says what the user can do about its
// errors.
func withHost(command *cobra.Command, flags *settings.Settings, work func(context.Context, *hosted.Host) error) error {
	host, err := hosted.Open(flags, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return hosted.Explained(errors.Join(work(command.Context(), host), host.Close()))
}

// withSkills has work done with the API and with the skills of those names, or
// all where all is set.
func withSkills(command *cobra.Command, flags *settings.Settings, roots, names []string, all bool, work func(context.Context, *hosted.Host, *runtime, []*catalog.Skill) error) error {
	flags.Quiet, flags.Unrecorded = true, true
	runtime, err := open(command.Context(), flags, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	snapshot := runtime.catalog.Snapshot()
	var skills []*catalog.Skill
	for _, name := range names {
		skill, known := snapshot.Lookup(name)
		if !known {
			return fmt.Errorf("there is no skill %q: 'skills-mcp list' shows which there are", name)
		}
		skills = append(skills, skill)
	}
	if all {
		skills = snapshot.Skills()
	}
	return withHost(command, flags, func(ctx context.Context, host *hosted.Host) error {
		return work(ctx, host, runtime, skills)
	})
}

func newHostedPush(flags *settings.Settings) *cobra.Command {
	var roots []string
	var all, asJSON, withHidden bool
	command := &cobra.Command{
		Use:   "push SKILL... | --all",
		Short: "Upload skills that the API does not have as they are now",
		Long: `Upload skills that the API does not have as they are now, each as a new version
of the skill that it was pushed to before. That version is the one that 'hosted
container' names, whatever is uploaded later. Links and what is hidden are left
out; an upload has 30 MB at most.`,
		Args: func(_ *cobra.Command, names []string) error {
			if all == (len(names) > 0) {
				return exit.Misused(errors.New("name skills, or give --all"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, names []string) error {
			return withSkills(command, flags, roots, names, all, func(ctx context.Context, host *hosted.Host, r *runtime, skills []*catalog.Skill) error {
				for _, skill := range skills {
					done := terminal.Progress(command.ErrOrStderr(), "pushing "+skill.Name)
					pushed, err := host.Push(ctx, r.copies, skill, withHidden)
					done()
					if err != nil {
						return fmt.Errorf("%s: %w", skill.Name, err)
					}
					if asJSON {
						err = json.NewEncoder(command.OutOrStdout()).Encode(pushed)
					} else {
						_, err = fmt.Fprintf(command.OutOrStdout(), "%s: %s, %s version %s\n", pushed.Name, pushed.Did, pushed.Skill, pushed.Version)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&all, "all", false, "push all skills there are")
	command.Flags().BoolVar(&withHidden, "with-hidden", false, "push files too that programs never see in a project, such as .env")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each skill")
	rootFlag(command, &roots)
	return command
}

func newHostedList(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "Print your skills that the API has",
		Args:  exit.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return readThen(command, flags, func(ctx context.Context, host *hosted.Host) error {
				return hosted.ShowSkills(command.OutOrStdout(), asJSON, host.Skills(ctx, "custom"))
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return command
}

func newHostedVersions(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "versions SKILL",
		Short: "Print the versions of a skill that the API has",
		Args:  exactlyOne("the name or id of a skill"),
		RunE: func(command *cobra.Command, names []string) error {
			return readThen(command, flags, func(ctx context.Context, host *hosted.Host) error {
				id, err := host.Resolve(ctx, names[0])
				if err != nil {
					return err
				}
				return hosted.ShowVersions(command.OutOrStdout(), asJSON, host.Versions(ctx, id))
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return command
}

func newHostedDelete(flags *settings.Settings) *cobra.Command {
	var version string
	var yes bool
	command := &cobra.Command{
		Use:   "delete SKILL [--version VERSION]",
		Short: "Delete a skill that the API has, or one version of it",
		Args:  exactlyOne("the name or id of a skill"),
		RunE: func(command *cobra.Command, names []string) error {
			return readThen(command, flags, func(ctx context.Context, host *hosted.Host) error {
				id, err := host.Resolve(ctx, names[0])
				if err != nil {
					return err
				}
				what := cmp.Or(version, "all versions of it")
				if ok, err := mayDelete(command, yes, fmt.Sprintf("Delete %s, %s, for everybody in the workspace?", id, what)); !ok || err != nil {
					return err
				}
				if version != "" {
					if err := host.DeleteVersion(ctx, id, version); err != nil {
						return err
					}
					_, err = fmt.Fprintf(command.OutOrStdout(), "deleted %s\n", version)
					return err
				}
				count, err := host.Delete(ctx, id)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(command.OutOrStdout(), "deleted %s with %s\n", id, terminal.Counted(count, "version"))
				return err
			})
		},
	}
	command.Flags().StringVar(&version, "version", "", "the id of the only `VERSION` to delete")
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}

// mayDelete asks whoever is at the terminal, where that was not said before.
func mayDelete(command *cobra.Command, yes bool, question string) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !terminal.CanAsk(command):
		return false, exit.Misused(errors.New("nobody can be asked here: give --yes to delete"))
	}
	return terminal.Ask(command, question)
}

func newHostedContainer(flags *settings.Settings) *cobra.Command {
	var roots []string
	command := &cobra.Command{
		Use:   "container SKILL...",
		Short: "Print what a call of the Messages API needs to have skills",
		Long: `Print what a call of the Messages API needs to have skills in a container, each
in the version that was pushed: the members of the request, as JSON. It is an error
that a skill has changed since.`,
		Args: counted(cobra.MinimumNArgs(1)),
		RunE: func(command *cobra.Command, names []string) error {
			return withSkills(command, flags, roots, names, false, func(ctx context.Context, host *hosted.Host, r *runtime, skills []*catalog.Skill) error {
				params, err := host.Container(skills, func(skill *catalog.Skill) (string, error) {
					copied, err := r.copies.Take(ctx, skill.Dir)
					if err != nil {
						return "", err
					}
					defer copied.Release()
					return copied.Digest, nil
				})
				if err != nil {
					return err
				}
				return terminal.PrintJSON(command.OutOrStdout(), map[string]any{
					"container": params,
					"tools":     []anthropic.Tool{{Type: anthropic.CodeExecution, Name: "code_execution"}},
				})
			})
		},
	}
	rootFlag(command, &roots)
	return command
}

func newHostedFiles(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "files",
		Short: "Print the files that the API has",
		Args:  exit.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return readThen(command, flags, func(ctx context.Context, host *hosted.Host) error {
				return hosted.ShowFiles(command.OutOrStdout(), asJSON, host.Files(ctx))
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return command
}

func newHostedDownload(flags *settings.Settings) *cobra.Command {
	var out string
	command := &cobra.Command{
		Use:   "download FILE",
		Short: "Download a file that was made in a container",
		Long: `Download a file that was made in a container. It gets the name that the API has
for it, in the working directory, unless --out says another. What is there already is
not written over.`,
		Args: exactlyOne("the id of a file"),
		RunE: func(command *cobra.Command, ids []string) error {
			return readThen(command, flags, func(ctx context.Context, host *hosted.Host) error {
				path, err := host.Save(ctx, ids[0], out)
				if err == nil {
					_, err = fmt.Fprintln(command.OutOrStdout(), terminal.Printable(path))
				}
				return err
			})
		},
	}
	command.Flags().StringVar(&out, "out", "", "the `PATH` to write to")
	return command
}

// readThen is [withHost] for what needs no skills of this machine.
func readThen(command *cobra.Command, flags *settings.Settings, work func(context.Context, *hosted.Host) error) error {
	flags.Quiet, flags.Unrecorded = true, true
	if err := flags.Read(nil); err != nil {
		return err
	}
	return withHost(command, flags, work)
}
