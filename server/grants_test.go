package server_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/server"
)

// grant has skills be granted what options say.
func (f *fixture) grant(t testing.TB, opts *server.Options, options []string) {
	t.Helper()
	granted := map[string]grants.Configured{}
	for _, option := range options {
		named, ok := strings.CutPrefix(option, "secret=")
		if !ok {
			continue
		}
		parts := strings.SplitN(named, ":", 3)
		source, err := secrets.Parse(strings.ReplaceAll(parts[2], "+", " "))
		must(t, err)
		configured := grants.Configured{Root: f.root, Pin: grants.PinName}
		configured.Secrets = append(granted[parts[0]].Secrets, grants.Secret{Name: parts[1], Source: source, Plain: true})
		granted[parts[0]] = configured
	}
	if len(granted) > 0 {
		grantTo(t, opts, func(skill string) (grants.Configured, error) { return granted[skill], nil })
	}
}

// grantTo has skills be granted what configured says.
func grantTo(t testing.TB, opts *server.Options, configured func(skill string) (grants.Configured, error)) {
	t.Helper()
	opts.Redact = &redact.Set{}
	store := secrets.New(secrets.Options{Redact: opts.Redact})
	t.Cleanup(func() { must(t, store.Close()) })
	opts.Grants = server.Grants{Configured: configured, Secrets: store}
}
