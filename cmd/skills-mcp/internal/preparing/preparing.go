// Package preparing has packages prepared for skills: it says what their files
// ask for, and makes environments of it.
package preparing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server"
)

// OpenStore returns the environments for the programs of a backend, or nil where
// nothing can be run.
func OpenStore(backend sandbox.Backend, log *slog.Logger) (*environments.Store, error) {
	if !backend.Info().Runs() {
		return nil, nil
	}
	dir, err := environments.Dir()
	if err != nil {
		return nil, err
	}
	return &environments.Store{Dir: dir, Machine: environments.MachineOf(backend), Logger: log}, nil
}

// Reap removes environments that another process, which is gone, has not finished.
func Reap() {
	if dir, err := environments.Dir(); err == nil {
		(&environments.Store{Dir: dir}).Reap()
	}
}

// What bounds the download of packages.
const (
	maxDownloadBytes    = 4 << 30
	maxDownloadRequests = 100_000
)

// Preparer makes environments.
type Preparer struct {
	Store   *environments.Store
	Backend sandbox.Backend
	Log     *slog.Logger
	// Hosts are further ones that the index has files on.
	Hosts []string
	// ExcludeNewer is a date, or empty.
	ExcludeNewer string
	// Progress is called with what is done.
	Progress func(line string)
	// Agree is called with what would be installed for a skill. Its error keeps it
	// from being installed, and is what Prepare returns.
	Agree func(skill string, offer Offer) error
}

// Prepare makes the environment for what a skill needs.
func (p *Preparer) Prepare(ctx context.Context, skill string, asked needs.Needs) (_ *environments.Environment, err error) {
	places := environments.UserPlaces()
	uv, wanted := environments.FindUV(), server.WantedPackages(asked)
	indexes, err := environments.FindIndexes(ctx, places, uv, wanted)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(append(indexes.Hosts, p.Hosts...))
	if err != nil {
		return nil, err
	}
	proxy, err := egress.New(egress.Options{Logger: p.Log, Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	var sessions []*egress.Session
	defer func() {
		for _, session := range sessions {
			session.Close()
		}
	}()
	open := func() (sandbox.Egress, error) {
		// Where the index is, is for this machine's user to say, in a private network
		// too.
		session, err := proxy.Open(egress.Grant{
			Skill: skill, Rules: rules, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
			MaxBytes: maxDownloadBytes, MaxRequests: maxDownloadRequests,
		})
		if err == nil {
			sessions = append(sessions, session)
		}
		return session, err
	}
	made, err := workspaces.New("", workspaces.Options{Logger: p.Log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	variables := egress.Variables("")
	variables["NO_PROXY"], variables["no_proxy"] = "", "" // an index on this machine is not in the sandbox
	found, err := p.Store.Prepare(ctx, environments.Request{
		Wanted: wanted, Backend: p.Backend, Egress: open, EgressEnv: variables, Indexes: indexes,
		UV: uv, Certificates: environments.FindCertificates(places), ExcludeNewer: p.ExcludeNewer,
		Progress: p.Progress, Workspaces: made, IndexTimeout: indexTimeout(places.Getenv("UV_HTTP_TIMEOUT")),
		Agree: func(all []environments.Package) error {
			return p.Agree(skill, Offer{Packages: all, Indexes: indexes.Of(wanted)})
		},
	})
	if err != nil {
		return nil, errors.Join(explained(err, p.Backend.Info()), refused(sessions))
	}
	return found, nil
}

// indexTimeout returns what the user's own uv goes by, in seconds, or 0.
func indexTimeout(text string) time.Duration {
	seconds, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// rulesOf parses hosts.
func rulesOf(texts []string) (rules []hosts.Rule, err error) {
	for _, text := range texts {
		rule, err := hosts.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the host of a package index: %w", err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// advice is what to do where uv or npm says something.
var advice = []struct{ sign, advice string }{
	{"timed out", keepsSilent}, {"timeout", keepsSilent},
	{"no usable wheels", "nothing is built here, which would run programs of the package: only versions that have a wheel for this Python can be had"},
	{"Hash mismatch", otherFile}, {"EINTEGRITY", otherFile},
	{"No space left on device", "packages are downloaded to the directory for temporary files, which TMPDIR names"},
}

const (
	keepsSilent = "an index that keeps silent is waited for as long as UV_HTTP_TIMEOUT says, in seconds"
	otherFile   = "the index has another file than it, or the skill's lock, states: do not install it in any other way, and tell who runs the index"
)

// explained says what the user can do.
func explained(err error, info sandbox.Info) error {
	missing, step := (*environments.MissingError)(nil), (*environments.StepError)(nil)
	switch {
	case errors.Is(err, environments.ErrNoUV):
		return errors.New("Python packages are prepared by uv, which is not there: install it with 'pip install uv', 'pipx install uv', or as docs.astral.sh/uv says, and run this again") //nolint:staticcheck // the language's name
	case errors.Is(err, environments.ErrNoEgress) && info.Network:
		return fmt.Errorf("the sandbox %s (tier %s) isolates nothing, so no packages are prepared with it: use --sandbox=local or --sandbox=docker, or install what the skill needs yourself",
			info.Backend, info.Tier)
	case errors.Is(err, environments.ErrNoEgress):
		return fmt.Errorf("the sandbox %s (tier %s) cannot be limited to the hosts of the package index, so that nothing is downloaded in it: use --sandbox=docker, or have the tier full (docs/sandboxes.md says what it needs)",
			info.Backend, info.Tier)
	case errors.As(err, &missing) && info.Image != "":
		return fmt.Errorf("there is no %s in the image of the containers: 'skills-mcp image build' without --slim builds one that has it; or name an image of your own that has it, built FROM skills-mcp/sandbox, with --docker-image",
			missing.Program)
	case errors.As(err, &missing):
		return fmt.Errorf("there is no %s that programs in the sandbox find: install it, so that it is on PATH, and run this again", missing.Program)
	case errors.As(err, &step):
		for _, known := range advice {
			if strings.Contains(step.Output, known.sign) {
				return fmt.Errorf("%w\n%s", err, known.advice)
			}
		}
	case errors.Is(err, environments.ErrNoSpace):
		return fmt.Errorf("%w; 'skills-mcp prune' removes what is not used, and XDG_CACHE_HOME says where packages are kept", err)
	case errors.Is(err, environments.ErrTooLarge):
		return fmt.Errorf("%w; the skill has to ask for less, or for smaller packages, such as those without support for graphics cards", err)
	}
	return err
}

// refused says which hosts were asked for in vain, and what to do about each.
func refused(sessions []*egress.Session) error {
	var lines []string
	for _, session := range sessions {
		for _, host := range session.Usage().Hosts {
			line := fmt.Sprintf("the host %s, port %d, was refused (%s)", terminal.Printable(host.Host), host.Port, host.Reason)
			switch host.Reason {
			case egress.NotGranted:
				line += ": where your index keeps its files there, name it with --host"
			case egress.Unreachable:
				line = fmt.Sprintf("the host %s, port %d, is not found, or nothing answers there: look whether your uv, pip or npm reaches it, by the same variables and files (UV_DEFAULT_INDEX, npm_config_registry, HTTPS_PROXY)",
					terminal.Printable(host.Host), host.Port)
			}
			if host.Refused > 0 && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}
