//go:build amd64 || arm64

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/cgroup"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/launcher"
)

// system is what a backend needs of the operating system.
type system struct {
	tier     Tier
	layout   layout
	launcher launcher.Launcher
	cgroups  *cgroup.Place
	idmaps   *idmaps // nil where programs run as the server's user
	private  bool    // directories are shown by files of the run's own
	// asNobody has the programs of root run as nobody in the tier restricted.
	asNobody bool
	warm     *warm
	// isCopy reports whether a share of a run is a copy, and unmountable has the
	// paths of those of which the kernel mounts no overlay.
	isCopy      func(sandbox.Share) bool
	unmountable sync.Map
	aliases     *tempdir.Dir   // nil where there is none
	endings     sync.WaitGroup // of what runs were in
}

// open returns a backend of the best tier in which a program can be run.
func open(ctx context.Context, options Options) (*Backend, error) {
	tiers := []Tier{Full, Restricted}
	if options.Tier != "" {
		tiers = []Tier{options.Tier}
	}
	var reasons []error
	for _, tier := range tiers {
		b, err := openTier(ctx, options, tier)
		if err == nil {
			return b, nil
		}
		options.Logger.Debug("a tier cannot be had", "tier", tier, "reason", err)
		reasons = append(reasons, fmt.Errorf("tier %s: %w", tier, err))
	}
	return nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, errors.Join(reasons...))
}

func openTier(ctx context.Context, options Options, tier Tier) (*Backend, error) {
	b := &Backend{system: system{tier: tier}}
	s := &b.system
	switch {
	case tier != Full && tier != Restricted:
		return nil, fmt.Errorf("there is no tier %q", tier)
	case tier == Restricted && jail.LandlockABI() == 0:
		return nil, errors.New("the kernel has no Landlock: it takes Linux 5.13 and \"landlock\" among the security modules of the boot parameter lsm=")
	}
	s.cgroups = cgroup.Find(func() (pid int, end func(), err error) {
		return startIdle(supervisor.StartChild, &syscall.SysProcAttr{Setsid: true}) // no signal of a terminal
	})
	options.Logger.Debug("looked for a place for cgroups", "tier", tier, "place", s.cgroups.String())
	if tier == Full && runsAsNobody() {
		s.idmaps = &idmaps{launch: s.launch, namespaces: make(map[[2]uint32]*os.File)}
	}
	s.warm = &warm{system: s}
	s.private = tier == Full
	s.asNobody = tier == Restricted && runsAsNobody() && holdsCapabilities(neededForNobody)
	for {
		err := s.survey(options)
		b.runner = process.NewRunner(s.info(), options.Logger)
		s.showCopies(b.runner)
		if err == nil {
			err = b.probe(ctx)
		}
		if err == nil {
			s.layout.log(options.Logger.With("tier", tier))
			return b, nil
		}
		if !s.fallBack(err) {
			return nil, errors.Join(err, b.Close())
		}
		options.Logger.Debug("the sandbox has less than it might", "tier", tier, "reason", err)
		b.runner.Close()
		s.closeAliases()
	}
}

// fallBack reports whether an error is that of a kernel that can isolate
// programs, but not in all that is asked for, which is not asked for then.
func (s *system) fallBack(err error) bool {
	if s.asNobody { // who may not go to where temporary files are, perhaps
		s.asNobody = false
		return true
	}
	var step *supervisor.StepError
	if s.private && errors.As(err, &step) && step.Step == jail.StepCover {
		s.private = false
		return true
	}
	return false
}

// survey looks at what of the machine programs are to see.
func (s *system) survey(options Options) error {
	surroundings := options.surroundings()
	surroundings.asOthers = s.idmaps != nil || s.asNobody
	surroundings.inPlace = s.asNobody
	s.layout = newLayout(surroundings)
	const gitConfig = "/etc/gitconfig"
	if s.tier == Restricted && !s.layout.shows(gitConfig) {
		s.layout.variables["GIT_CONFIG_NOSYSTEM"] = "1" // where it can be seen to be there, git fails
	}
	return s.aliasPython()
}

// release ends what New has started.
func (s *system) release() {
	s.warm.close()
	s.endings.Wait()
	if s.idmaps != nil {
		s.idmaps.close()
	}
	s.closeAliases()
	s.launcher.Close()
	s.cgroups.Close() // nothing but empty cgroups can be left
}

// probe runs a program once, as all others will be.
func (b *Backend) probe(ctx context.Context) (err error) {
	dir, err := tempdir.New("", "skills-mcp-probe-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	skill, workspace := filepath.Join(dir.Path(), "skill"), filepath.Join(dir.Path(), "workspace")
	if err := errors.Join(os.Mkdir(skill, 0o755), os.Mkdir(workspace, 0o700)); err != nil {
		return err
	}
	result, err := b.Run(ctx, sandbox.Spec{
		Shell:     `test -r "$SKILL_DIR" && test -w "$WORKSPACE" && : > "$WORKSPACE/probe"`,
		SkillDir:  skill,
		Workspace: workspace, // its owner may change, but not that of dir, which tells whose it is
	})
	if setup := new(sandbox.SetupError); errors.As(err, &setup) && setup.Err != nil {
		return explain(setup.Err)
	}
	if err == nil && (result.Status != sandbox.Exited || result.ExitCode != 0) {
		err = fmt.Errorf("a program that was tried ended as %q, exit code %d", result.Status, result.ExitCode)
	}
	return err
}

// explain adds to a reason what would fix it.
func explain(err error) error {
	var step *supervisor.StepError
	hint := "the kernel, which must be Linux 5.12 or newer, or the container that this runs in cannot do it"
	switch {
	case errors.Is(err, unix.ENOSPC) && !errors.As(err, &step):
		hint = "there may be no more user namespaces; allow more with sysctl user.max_user_namespaces"
	case errors.Is(err, os.ErrPermission) && !errors.As(err, &step):
		hint = "user namespaces are refused; allow them with sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone, on Ubuntu with an AppArmor profile for this program, in a container by its engine's seccomp profile"
	case errors.Is(err, os.ErrPermission):
		hint = "a security module or container lets namespaces be made but not be used; on Ubuntu give this program an AppArmor profile with \"userns,\""
	}
	return fmt.Errorf("%w (%s)", err, hint)
}
