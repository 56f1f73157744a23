package hosted

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/hosted"
)

// Sandbox is the backend that runs programs in containers of the API.
type Sandbox struct {
	*hosted.Backend
	host   *Host
	copies *staging.Copies
	log    *slog.Logger
}

// OpenSandbox returns the backend for the API that the configuration names. The key
// has to be there; nothing is asked of the API yet.
func OpenSandbox(ctx context.Context, s *settings.Settings, log *slog.Logger) (*Sandbox, error) {
	host, err := Open(s, log)
	if err != nil {
		return nil, err
	}
	b := &Sandbox{host: host, log: log}
	if err = Explained(host.CheckKey(ctx)); err == nil {
		b.copies, err = staging.New("", log)
	}
	if err == nil {
		b.Backend, err = hosted.New(hosted.Options{API: host.Client, Model: s.Hosted.Model, Push: b.push, Logger: log})
	}
	if err != nil {
		return nil, errors.Join(err, b.release())
	}
	return b, nil
}

// Close closes the backend, and then what it uses.
func (b *Sandbox) Close() error { return errors.Join(b.Backend.Close(), b.release()) }

func (b *Sandbox) release() error {
	err := b.host.Close()
	if b.copies != nil {
		err = errors.Join(err, b.copies.Close())
	}
	return err
}

// push is [hosted.Options.Push].
func (b *Sandbox) push(ctx context.Context, dir string) (hosted.Skill, error) {
	name, err := nameIn(dir)
	if err != nil {
		return hosted.Skill{}, notPushed(err)
	}
	copied, err := b.copies.Take(ctx, dir) // of which the digest is that of 'hosted push'
	if err != nil {
		return hosted.Skill{}, notPushed(err)
	}
	defer copied.Release()
	pushed, err := b.host.push(ctx, name, copied, false)
	if err != nil {
		b.log.Warn("a skill cannot be pushed", "skill", name, "error", err)
		return hosted.Skill{}, notPushed(err)
	}
	return hosted.Skill{ID: pushed.Skill, Version: pushed.Version, Name: name}, nil
}

// nameIn returns the name of the skill in a directory, as the API reads it.
func nameIn(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	if err != nil {
		return "", errors.New("it has no SKILL.md, which the API asks for")
	}
	document, _ := catalog.ParseDocument("SKILL.md", text)
	var frontmatter struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(document.Frontmatter, &frontmatter); err != nil || catalog.NameFault(frontmatter.Name) != "" {
		return "", errors.New("the API does not take its name")
	}
	return frontmatter.Name, nil
}

// notPushed returns the error of a skill that is not with the API, which clients
// see.
func notPushed(err error) error {
	if anthropic.Hint(err) != "" {
		return err
	}
	if _, ok := errors.AsType[*anthropic.Error](err); ok {
		return err
	}
	return &sandbox.SetupError{
		Rule: "hosted-refused", Message: "the skill cannot be sent to the Claude API; nothing was run",
		Hint: "Tell the user that 'skills-mcp hosted push' says why.", Err: err,
	}
}
