package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
)

// maxMessageBytes is more than an engine says at once of what it does.
const maxMessageBytes = 1 << 20

// Arch returns the architecture of the engine's machine, as Go calls it.
func (e *Engine) Arch(ctx context.Context) (string, error) {
	version, err := e.api.ServerVersion(ctx)
	return version.Arch, err
}

// Build is an image that an engine is to build.
type Build struct {
	// Context is a tar archive with a Dockerfile and what that copies.
	Context io.Reader
	Args    map[string]string
	Labels  map[string]string
}

// Build has an engine build an image, writes what it says meanwhile to progress,
// and returns the image's identity.
func (e *Engine) Build(ctx context.Context, b Build, progress io.Writer) (string, error) {
	args := make(map[string]*string, len(b.Args))
	for name, value := range b.Args {
		args[name] = &value
	}
	// The builder that every engine has; BuildKit's needs a session.
	answer, err := e.api.ImageBuild(ctx, b.Context, build.ImageBuildOptions{BuildArgs: args, Labels: b.Labels, Remove: true, ForceRemove: true})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	return follow(answer.Body, progress)
}

// Import makes an image of a tar archive of a root file system, with labels, and
// returns its identity.
func (e *Engine) Import(ctx context.Context, archive io.Reader, name string, labels map[string]string) (string, error) {
	var changes []string
	for label, value := range labels {
		changes = append(changes, fmt.Sprintf("LABEL %s=%q", label, value))
	}
	answer, err := e.api.ImageImport(ctx, image.ImportSource{Source: archive, SourceName: "-"}, name, image.ImportOptions{Changes: changes})
	if err != nil {
		return "", err
	}
	defer answer.Close()
	if _, err := follow(answer, io.Discard); err != nil {
		return "", err
	}
	made, err := e.Image(ctx, name)
	return made.ID, err
}

// Pull has an engine get an image from where its name says, and writes what it
// says meanwhile to progress.
func (e *Engine) Pull(ctx context.Context, name string, progress io.Writer) error {
	answer, err := e.api.ImagePull(ctx, name, image.PullOptions{})
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = follow(answer, progress)
	return err
}

// Tag gives an image a name.
func (e *Engine) Tag(ctx context.Context, id, name string) error {
	return e.api.ImageTag(ctx, id, name)
}

// RemoveImage removes an image, unless something is made of it.
func (e *Engine) RemoveImage(ctx context.Context, id string) error {
	_, err := e.api.ImageRemove(ctx, id, image.RemoveOptions{PruneChildren: true})
	return err
}

// message is one of what an engine says while it makes an image.
type message struct {
	Stream, Status, ID string
	Error              string
	ProgressDetail     struct{ Total int64 }
	Aux                json.RawMessage // of a build its image, of others what they like
}

// built begins what engines say last that do not say it for programs.
const built = "Successfully built "

// follow writes what an engine says to progress, until it is done or fails, and
// returns the image that it says it has built.
func follow(answer io.Reader, progress io.Writer) (id string, err error) {
	lines := bufio.NewScanner(answer)
	lines.Buffer(nil, maxMessageBytes)
	for lines.Scan() {
		var said message
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			return "", fmt.Errorf("the engine's answer is none: %w", err)
		}
		if said.Error != "" {
			return "", errors.New(strings.TrimSpace(said.Error))
		}
		if last, ok := strings.CutPrefix(said.Stream, built); ok && id == "" {
			id = strings.TrimSpace(last)
		}
		var made struct{ ID string }
		if json.Unmarshal(said.Aux, &made) == nil && made.ID != "" {
			id = made.ID
		}
		if _, err := io.WriteString(progress, said.text()); err != nil {
			return "", err
		}
	}
	return id, lines.Err()
}

// text is what a person reads of it, without what is told many times a second.
func (m message) text() string {
	switch {
	case m.Stream != "":
		return m.Stream
	case m.Status == "" || m.ProgressDetail.Total > 0:
		return ""
	case m.ID != "":
		return m.ID + ": " + m.Status + "\n"
	}
	return m.Status + "\n"
}
