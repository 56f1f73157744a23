// Package imaging builds the images in which containers run programs, for the
// command that does.
package imaging

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/image"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
)

const buildLong = `Build the image of which --sandbox=docker makes a container for every run, in the
engine that $DOCKER_HOST or Docker's context names, else in the first that answers.
The image has this program as what starts in a container, so build it again after an
upgrade. It gets its name once a program has run in it.

It has a shell, Python, Node.js, git, make, curl, jq, and the Python packages that
most skills ask for. With --slim it has neither Node.js nor Python packages; with
--office it also has LibreOffice, pandoc, Tesseract, fonts, and more Python packages
for documents. Packages are the newest that there are; docs/sandboxes.md names them.`

const buildExample = `  skills-mcp image build
  skills-mcp image build --office --tag skills-mcp/office
  skills-mcp --sandbox=docker --docker-image skills-mcp/office

  # Where no image can be pulled: of this machine's Debian or Ubuntu
  sudo skills-mcp image build --slim --mmdebstrap`

// NewCommand returns the command "image".
func NewCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "image",
		Short: "Build the image in which containers run programs",
		Args:  exit.NoArguments,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newBuild())
	return command
}

func newBuild() *cobra.Command {
	var slim, office bool
	options := image.Options{Remote: remote.Access{}}
	command := &cobra.Command{
		Use:     "build",
		Short:   "Build it",
		Long:    buildLong,
		Example: buildExample,
		Args:    exit.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			switch {
			case slim && office:
				return exit.Misused(errors.New("an image is --slim or --office, not both"))
			case options.Debootstrap && command.Flags().Changed("base"):
				return exit.Misused(errors.New("with --mmdebstrap there is no --base"))
			case slim:
				options.Contents = image.Slim
			case office:
				options.Contents = image.Office
			}
			options.Progress = escaped{command.ErrOrStderr()}
			built, err := image.Build(command.Context(), options)
			if err != nil {
				return explained(err)
			}
			did := "is ready"
			if built.Cached {
				did = "is up to date"
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "%s %s: %d MB, %s\n", built.Tag, did, built.Bytes/1e6, built.ID)
			return err
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&slim, "slim", false, "only a shell, Python and the usual tools")
	flags.BoolVar(&office, "office", false, "also what reads, writes and converts documents; takes gigabytes")
	flags.StringVar(&options.Tag, "tag", docker.DefaultImage, "`NAME` of the image, for --docker-image where it is another one")
	flags.StringVar(&options.Base, "base", image.DefaultBase, "`IMAGE` of a Debian or an Ubuntu to build of")
	flags.BoolVar(&options.Debootstrap, "mmdebstrap", false, "build of the packages of this machine's Debian or Ubuntu, by mmdebstrap,\nand of no image")
	flags.StringVar(&options.Entry, "entry", "", "`FILE` with skills-mcp of this version for Linux and the engine's architecture\n(default: this program)")
	flags.BoolVar(&options.Cached, "cached", false, "leave the image as it is where it was built of the same")
	return command
}

// explained says what the user can do.
func explained(err error) error {
	switch {
	case errors.Is(err, image.ErrEntry):
		return fmt.Errorf("%w; name a skills-mcp of this version that can, with --entry: that of a release, or what 'CGO_ENABLED=0 GOOS=linux GOARCH=... go build ./cmd/skills-mcp' makes", err)
	case errors.Is(err, image.ErrBase):
		return fmt.Errorf("%w; pull it with what the engine's registry asks for, name another Debian or Ubuntu with --base, or build without a registry on Debian and Ubuntu, with --mmdebstrap", err)
	case errors.Is(err, image.ErrNoDebootstrap):
		return fmt.Errorf("%w; on Debian and Ubuntu 'apt-get install mmdebstrap' installs it; else leave out --mmdebstrap", err)
	}
	return err
}

// escaped writes what an engine says so that it can do nothing to a terminal.
type escaped struct{ io.Writer }

func (w escaped) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, terminal.Escaped(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
