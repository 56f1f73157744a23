package access

import (
	"context"
	"errors"

	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// readSecrets puts the run's secrets into its environment: the value of one that
// is plain, and a placeholder of the others, which it returns. A masked one is of
// no use where the network stays closed, and is not read then.
func (r *Run) readSecrets(ctx context.Context) (masked []egress.Secret, err error) {
	for _, secret := range r.effective.Secrets {
		if !secret.Plain && !r.access.holdsHosts() {
			continue
		}
		value, err := r.access.Secrets.Value(ctx, secret.Name, secret.Source)
		if err != nil {
			return nil, r.unreadable(err)
		}
		if secret.Plain {
			r.env[secret.Name] = value
			continue
		}
		placeholder := r.access.Secrets.Placeholder(secret.Name, value)
		r.env[secret.Name] = placeholder
		masked = append(masked, r.masked(secret, placeholder))
	}
	return masked, nil
}

func (r *Run) masked(secret grants.Secret, placeholder string) egress.Secret {
	return egress.Secret{
		Name: secret.Name, Placeholder: placeholder, Hosts: secret.Hosts, Body: secret.Body,
		Value: func(ctx context.Context) (string, error) {
			return r.access.Secrets.Value(ctx, secret.Name, secret.Source)
		},
	}
}

// unreadable is the failure of a run whose secret cannot be had.
func (r *Run) unreadable(err error) error {
	var unreadable *secrets.Error
	if !errors.As(err, &unreadable) {
		return err
	}
	return &failure.Failure{
		Code: failure.Code(unreadable.Code), Message: unreadable.Error() + "; nothing was run",
		Hint:  "Tell the user. " + unreadable.Hint + " 'skills-mcp revoke " + shellword.Name(r.skill.Name) + " --secret " + unreadable.Name + "' has the skill run without it.",
		Cause: err,
	}
}
