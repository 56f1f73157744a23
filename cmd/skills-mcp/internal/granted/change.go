package granted

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/approval"
)

// Texts are grants as a command line has them.
type Texts struct {
	// Hosts, AllowPrivate and Show are as in a configuration, but that paths may be
	// relative.
	Hosts, AllowPrivate, Show []string
	// Secrets are VAR or VAR=SOURCE, and For their hosts.
	Secrets, For []string
	// Plain and Body are of all Secrets.
	Plain, Body bool
	Packages    bool
	// Pin is "digest", "name" or empty.
	Pin string

	// answered are those of Hosts that answers allowed, be they granted or not.
	answered []string
}

// Names reports whether what an answer allowed for always is named: a host, or
// anything where nothing is.
func (t *Texts) Names(answer answers.Answer) bool {
	if t.Empty() {
		return true
	}
	allowed, err := hosts.Parse(answer.Grant)
	if err != nil || answer.Kind != string(approval.Network) {
		return false
	}
	for _, text := range t.Hosts {
		if rule, err := hosts.Parse(text); err == nil && rule.Covers(allowed) {
			t.answered = append(t.answered, text)
			return true
		}
	}
	return false
}

// parse returns what they mean. Errors are of the command line.
func (t Texts) parse() (config.Grants, error) {
	grants, err := t.parseAll()
	if err != nil {
		return config.Grants{}, exit.Misused(err)
	}
	return grants, nil
}

func (t Texts) parseAll() (grants config.Grants, err error) {
	grants.Packages, grants.Pin = t.Packages, t.Pin
	if grants.Network.Hosts, err = each("--host", t.Hosts, hosts.Parse); err != nil {
		return grants, err
	}
	if grants.Network.AllowPrivate, err = each("--allow-private", t.AllowPrivate, config.ParsePrefix); err != nil {
		return grants, err
	}
	if grants.Show, err = each("--show", t.Show, absolute); err != nil {
		return grants, err
	}
	if err := t.checkSecrets(); err != nil {
		return grants, err
	}
	recipients, err := each("--for", t.For, hosts.Parse)
	if err != nil {
		return grants, err
	}
	secret := config.Secret{For: recipients, Body: t.Body}
	if t.Plain {
		secret.Mode = config.Plain
	}
	for _, text := range t.Secrets {
		name := secret
		variable, source, given := strings.Cut(text, "=")
		if given {
			if name.Source, err = secrets.Parse(source); err != nil {
				return grants, fmt.Errorf("--secret %s: %w", variable, err)
			}
		}
		if err := config.CheckVariable(variable); err != nil {
			return grants, fmt.Errorf("--secret: %w", err)
		}
		if grants.Secrets == nil {
			grants.Secrets = map[string]config.Secret{}
		}
		grants.Secrets[variable] = name
	}
	if t.Pin != "" && t.Pin != config.PinDigest && t.Pin != config.PinName {
		return grants, fmt.Errorf("--pin %q is neither digest nor name", t.Pin)
	}
	return grants, nil
}

// checkSecrets refuses flags that do not go together.
func (t Texts) checkSecrets() error {
	switch {
	case len(t.Secrets) == 0 && (len(t.For) > 0 || t.Plain || t.Body):
		return errors.New("--for, --plain and --body say something of a --secret, and there is none")
	case len(t.Secrets) > 0 && len(t.For) == 0 && !t.Plain:
		return errors.New("--secret needs --for HOST, to which the secret is sent, or --plain, with which programs have it themselves")
	case t.Plain && t.Body:
		return errors.New("--body is for secrets that are masked, and not --plain")
	}
	return nil
}

func each[T any](flag string, texts []string, parse func(string) (T, error)) ([]T, error) {
	var parsed []T
	for _, text := range texts {
		value, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		parsed = append(parsed, value)
	}
	return parsed, nil
}

// absolute returns the path of what programs may be shown.
func absolute(text string) (string, error) {
	path, err := filepath.Abs(text)
	if err == nil {
		_, err = checkShow(path)
	}
	return path, err
}

// add adds other grants.
func add(to *config.Grants, other config.Grants) {
	to.Network.Hosts = union(to.Network.Hosts, other.Network.Hosts)
	to.Network.AllowPrivate = union(to.Network.AllowPrivate, other.Network.AllowPrivate)
	to.Show = union(to.Show, other.Show)
	to.Packages = to.Packages || other.Packages
	if other.Pin != "" {
		to.Pin = other.Pin
	}
	if to.Secrets == nil {
		to.Secrets = map[string]config.Secret{}
	}
	maps.Copy(to.Secrets, other.Secrets)
}

func union[T comparable](all, others []T) []T {
	all = slices.Clone(all)
	for _, other := range others {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return all
}

// subtract takes grants away, each of which there has to be.
func subtract(from *config.Grants, t Texts) error {
	named := slices.DeleteFunc(slices.Clone(t.Hosts), func(text string) bool {
		rule, err := hosts.Parse(text)
		return err == nil && slices.Contains(t.answered, text) && !slices.Contains(from.Network.Hosts, rule)
	})
	if err := without(&from.Network.Hosts, "host", named, hosts.Parse); err != nil {
		return err
	}
	if err := without(&from.Network.AllowPrivate, "private network", t.AllowPrivate, config.ParsePrefix); err != nil {
		return err
	}
	if err := without(&from.Show, "directory", t.Show, filepath.Abs); err != nil {
		return err
	}
	for _, name := range t.Secrets {
		if _, found := from.Secrets[name]; !found {
			return fmt.Errorf("the secret %q is not granted", name)
		}
		delete(from.Secrets, name)
	}
	if t.Packages && !from.Packages {
		return errors.New("packages are not granted")
	}
	from.Packages = from.Packages && !t.Packages
	return nil
}

func without[T comparable](from *[]T, noun string, texts []string, parse func(string) (T, error)) error {
	for _, text := range texts {
		value, err := parse(text)
		if err != nil {
			return exit.Misused(err)
		}
		i := slices.Index(*from, value)
		if i < 0 {
			return fmt.Errorf("the %s %s is not granted", noun, text)
		}
		*from = slices.Delete(slices.Clone(*from), i, i+1)
	}
	return nil
}

// Empty reports whether nothing is named.
func (t Texts) Empty() bool {
	return len(t.Hosts)+len(t.AllowPrivate)+len(t.Show)+len(t.Secrets) == 0 && !t.Packages
}
