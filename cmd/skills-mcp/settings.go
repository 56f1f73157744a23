package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/server"
)

// settings are the flags that all commands share.
type settings struct {
	strict        bool
	poll          time.Duration
	sandbox       string
	dockerImage   string
	dockerRuntime string
	maxRuns       int
	show          []string
	allowedTools  string
	toolsets      []string
	pinned        []string
	compatIndex   bool
	audit         string
	logLevel      string
	logFormat     string
}

func (s *settings) register(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&s.sandbox, "sandbox", backends[0].name, "`BACKEND` that runs scripts: "+backendHelp())
	flags.StringVar(&s.dockerImage, "docker-image", docker.DefaultImage,
		"`IMAGE` for --sandbox=docker, one that \"make image\" built or that is based\non such a one")
	flags.StringVar(&s.dockerRuntime, "docker-runtime", "",
		"`NAME` of the engine's runtime for --sandbox=docker, such as runsc (gVisor)\n(default: the engine's own)")
	flags.StringArrayVar(&s.show, "show", nil,
		"`PATH` of a file or directory that programs may read in the local sandbox\nbesides the system's, such as a tool's settings in /etc or /opt (repeatable)")
	flags.IntVar(&s.maxRuns, "max-runs", 0,
		"how many programs run at once, at most `N`; the others wait, and sessions take\nturns (default: twice the number of processors, at least 4)")
	flags.StringVar(&s.allowedTools, "allowed-tools", string(policy.Enforce),
		"`MODE` in which skills' allowed-tools are taken: enforce, or log (what is\nnot listed is allowed, and logged)")
	flags.StringSliceVar(&s.toolsets, "toolsets", nil,
		"`SETS` of further tools, separated by commas: workspace (view, create_file,\nstr_replace and bash_tool, to work on files of a workspace)")
	flags.BoolVar(&s.strict, "strict", false,
		"leave out every skill that the Agent Skills reference validator rejects")
	flags.StringArrayVar(&s.pinned, "pin", nil,
		"`NAME` of a skill to list first in the instructions (repeatable)")
	flags.BoolVar(&s.compatIndex, "compat-index", false,
		"serve skill://index.json too, for hosts that know only drafts of the\nSkills extension")
	flags.DurationVar(&s.poll, "poll", 0,
		"look for changes every `DURATION`, such as 5s, instead of being told by\nthe kernel; for network file systems")
	flags.StringVar(&s.audit, "audit", auditAuto,
		"`DIR` of the audit log, in which every call is recorded: auto (audit in the\nuser's state directory), off, or a path")
	flags.StringVar(&s.logLevel, "log-level", "info", "least severe `LEVEL` to log: debug, info, warn or error")
	flags.StringVar(&s.logFormat, "log-format", "auto", "`FORMAT` of the log: auto (text on a terminal, else JSON), text or json")
}

// policy returns the operator's policy.
func (s *settings) policy() (policy.Policy, error) {
	mode := policy.Mode(s.allowedTools)
	if mode != policy.Enforce && mode != policy.Log {
		return policy.Policy{}, usageError{fmt.Errorf("--allowed-tools %q is none of enforce, log", s.allowedTools)}
	}
	return policy.Policy{Mode: mode}, nil
}

// wantedToolsets returns the toolsets that are switched on, each once.
func (s *settings) wantedToolsets() ([]server.Toolset, error) {
	var wanted []server.Toolset
	for _, name := range s.toolsets {
		toolset, err := server.ParseToolset(name)
		if err != nil {
			return nil, usageError{fmt.Errorf("--toolsets: %w", err)}
		}
		if !slices.Contains(wanted, toolset) {
			wanted = append(wanted, toolset)
		}
	}
	return wanted, nil
}

// roots reads the ROOT arguments, or returns the default roots.
func (s *settings) roots(arguments []string) ([]catalog.Root, error) {
	project, err := projectDir()
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one, "~" is refused below
	if len(arguments) == 0 {
		return catalog.DefaultRoots(project, home), nil
	}
	roots := make([]catalog.Root, 0, len(arguments))
	for _, argument := range arguments {
		root, err := catalog.ParseRoot(argument, project, home)
		if err != nil {
			return nil, usageError{err}
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// projectDir is what relative paths are relative to. Hosts start servers in
// directories of their own choice; Claude Code names the project's.
func projectDir() (string, error) {
	if dir := os.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir, nil
	}
	return os.Getwd()
}
