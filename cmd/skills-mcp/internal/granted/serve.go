// Package granted has servers go by what the user granted to skills, and changes
// and shows it for the commands that do.
package granted

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/server"
)

// Source is where a server has what skills are granted from.
type Source struct {
	settings *settings.Settings
	secrets  *secrets.Store
	network  *slog.Logger // nil where the network is not logged
}

// Open returns the source, which the caller closes. What is asked of the network
// is written to stderr where the settings say so.
func Open(s *settings.Settings, stderr io.Writer, log *slog.Logger) (*Source, error) {
	source := &Source{settings: s, secrets: secrets.New(secrets.Options{Redact: s.Redact, Logger: log})}
	if s.Log.Network {
		var err error
		if source.network, err = s.LoggerFrom(slog.LevelInfo, stderr); err != nil {
			return nil, errors.Join(err, source.Close())
		}
	}
	return source, nil
}

// Close forgets the values of secrets.
func (s *Source) Close() error {
	if s == nil {
		return nil
	}
	return s.secrets.Close()
}

// Grants returns what a server takes.
func (s *Source) Grants() server.Grants {
	granted := server.Grants{Configured: s.configured, Secrets: s.secrets, Environ: os.Environ(), CheckShow: checkShow}
	if s.network != nil {
		granted.NetworkLog = s.logNetwork
	}
	return granted
}

// logNetwork logs what the programs of a skill ask the network for.
func (s *Source) logNetwork(skill string, event server.NetworkEvent) {
	attributes := []any{"skill", skill, "host", event.Host, "port", event.Port}
	if event.Request != "" {
		attributes = append(attributes, "request", event.Request)
	}
	if event.Refused != "" {
		s.network.Info("network: refused", append(attributes, "reason", string(event.Refused))...)
		return
	}
	s.network.Info("network: allowed", attributes...)
}

// configured returns what a skill is granted now.
func (s *Source) configured(skill string) (grants.Configured, error) {
	own, err := s.settings.Grants(skill)
	if err != nil || own.None() {
		return grants.Configured{}, err
	}
	return Configured(own)
}

// checkShow returns the path, without links, of what programs may read, or why
// they must not.
func checkShow(name string) (string, error) {
	name, err := local.CheckShow(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// Configured returns what the policy makes of what a file says.
func Configured(own config.Grants) (grants.Configured, error) {
	root, err := settings.ExpandHome(own.Root)
	if err != nil {
		return grants.Configured{}, err
	}
	configured := grants.Configured{Root: filepath.Clean(root), Pin: grants.Pin(own.Pin), Digest: own.Digest, Grants: grants.Grants{
		Hosts: own.Network.Hosts, AllowPrivate: own.Network.AllowPrivate, MaxBytes: own.Network.MaxBytes, MaxRequests: own.Network.MaxRequests,
		Packages: own.Packages,
	}}
	for _, name := range slices.Sorted(maps.Keys(own.Secrets)) {
		secret := own.Secrets[name]
		configured.Secrets = append(configured.Secrets, grants.Secret{
			Name: name, Source: sourceOf(name, secret), Hosts: secret.For, Plain: secret.Mode == config.Plain, Body: secret.Body,
		})
	}
	for _, name := range own.Show {
		path, err := settings.ExpandHome(name)
		if err != nil {
			return grants.Configured{}, err
		}
		configured.Show = append(configured.Show, path)
	}
	return configured, nil
}
