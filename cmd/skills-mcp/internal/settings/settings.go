// Package settings has the configuration that all commands go by, of which the
// flags that they share are a part, and says what it means to the rooms.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/plugins"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server"
)

// Settings are what all commands go by. Before they are read, only what is set
// by the fields is known.
type Settings struct {
	flags *pflag.FlagSet
	keys  []keyFlag
	file  string // of --config
	// Anywhere has the directory in which the program was started be no project
	// of whoever uses it.
	Anywhere bool
	// Unshared has programs see nothing of the user's files.
	Unshared bool
	// OneClient says that there is one client, which the host's session is of.
	OneClient bool
	// Unrecorded leaves the audit log out.
	Unrecorded bool
	// Quiet has only errors logged where nothing is said of it.
	Quiet bool
	// Redact is what this process writes nowhere: the values of secrets that it
	// has read.
	Redact *redact.Set

	// rootsFrom is for each root of the catalog the named one that it is from, and
	// pluginsLeftOut what of plugins is none.
	rootsFrom      []int
	pluginsLeftOut []plugins.LeftOut

	*config.Effective // after read
}

// keyFlag is a flag that sets a key.
type keyFlag struct{ flag, key string }

// keyed notes that a flag sets a key, and returns the flag's name.
func (s *Settings) keyed(flag, key string) string {
	s.keys = append(s.keys, keyFlag{flag, key})
	return flag
}

// Register adds the flags that commands share. Backends are the values of
// --sandbox, the default first, and how its help describes them.
func (s *Settings) Register(flags *pflag.FlagSet, backends []string, help string) {
	s.flags = flags
	flags.SortFlags = false
	flags.StringVar(&s.file, "config", "",
		"`FILE` to read instead of config.yaml in your configuration directory, as\ndocs/configuration.md has it; what flags say wins over it")
	flags.String(s.keyed("sandbox", "sandbox.backend"), backends[0], "`BACKEND` that runs scripts: "+help)
	flags.String(s.keyed("docker-image", "sandbox.docker.image"), docker.DefaultImage,
		"`IMAGE` for --sandbox=docker, one that \"image build\" built or that is\nbased on such a one")
	flags.String(s.keyed("docker-runtime", "sandbox.docker.runtime"), "",
		"`NAME` of the engine's runtime for --sandbox=docker, such as runsc (gVisor)\n(default: the engine's own)")
	flags.StringArray(s.keyed("show", "sandbox.show"), nil,
		"`PATH` of a file or directory that programs may read in the local sandbox\nbesides the system's, such as a tool's settings in /etc or /opt (repeatable)")
	flags.Int(s.keyed("max-runs", "sandbox.maxRuns"), 0,
		"how many programs run at once, at most `N`; the others wait, and sessions take\nturns (default: twice the number of processors, at least 4)")
	flags.Duration(s.keyed("timeout", "limits.timeout"), sandbox.DefaultTimeout,
		"`DURATION` that a run may take which asks for no time of its own, such as 90s;\nlimits.maxTimeout, 10 minutes, bounds it")
	flags.String(s.keyed("memory", "limits.memory"), "2GiB", "`SIZE` of the memory that all processes of a run may use together, such as 512MiB")
	flags.String(s.keyed("cpus", "limits.cpus"), "4", "`N` processors that all processes of a run together may keep busy, such as 0.5")
	flags.String(s.keyed("allowed-tools", "allowedTools"), string(policy.Enforce),
		"`MODE` in which skills' allowed-tools are taken: enforce, or log (what is\nnot listed is allowed, and logged)")
	flags.StringSlice(s.keyed("toolsets", "toolsets"), nil,
		"`SETS` of further tools, separated by commas: workspace (view, create_file,\nstr_replace and bash_tool, to work on files of the project\nand of a workspace)")
	flags.Bool(s.keyed("mount-all", "sandbox.mountAll"), false,
		"show the commands of bash_tool that are of no skill all skills that keep\nnothing from them, read-only at /mnt/skills/NAME; needs --toolsets=workspace")
	flags.Bool(s.keyed("expose-pack-tools", "exposePackTools"), false,
		"have the tools of skills' tools.json, as they are at the start, be tools of\nthe server too, named SKILL_TOOL, at most 40")
	flags.Bool(s.keyed("strict", "strict"), false,
		"leave out every skill that the Agent Skills reference validator rejects")
	flags.StringArray(s.keyed("pin", "pin"), nil,
		"`NAME` of a skill to list first in the instructions (repeatable)")
	flags.String(s.keyed("session", "session"), config.Auto,
		"`NAME` of the host's session, in which the names of activated skills are\nremembered: auto ($CLAUDE_CODE_SESSION_ID), off, or a name")
	flags.Bool(s.keyed("compat-index", "compatIndex"), false,
		"serve skill://index.json too, for hosts that know only drafts of the\nSkills extension")
	flags.Duration(s.keyed("poll", "poll"), 0,
		"look for changes every `DURATION`, such as 5s, instead of being told by\nthe kernel; for network file systems")
	flags.String(s.keyed("project", "project.dir"), config.Auto,
		"`DIR` of your project, on whose files programs work: auto (where the host or\nthe working directory says), off, or a path")
	flags.String(s.keyed("project-access", "project.access"), "review",
		"`MODE` in which programs see the project: review (what they change is held\nuntil it is applied), read, write (what they change is applied when they end,\nbut for what is protected), or off")
	flags.StringArray(s.keyed("share", "project.shares"), nil,
		"`PATH[:MODE]` of a further directory or file that programs see, in the mode\nreview, read or write (repeatable)")
	flags.String(s.keyed("approval", "approval.mode"), "host",
		"`MODE` in which you agree to changes of your files: host (the host asks), ask\n(the server asks, also the default of serve), or deny")
	flags.String(s.keyed("audit", "audit.dir"), config.Auto,
		"`DIR` of the audit log, in which every call is recorded: auto (audit in the\nuser's state directory), off, or a path")
	flags.String(s.keyed("metrics", "metrics.address"), config.Off,
		"`ADDRESS` of loopback at which /metrics is served for Prometheus, such as\n127.0.0.1:9464; serve has it at its own address too")
	flags.String(s.keyed("log-level", "log.level"), "info", "least severe `LEVEL` to log: debug, info, warn or error")
	flags.String(s.keyed("log-format", "log.format"), "auto", "`FORMAT` of the log: auto (text on a terminal, else JSON), text or json")
	flags.Bool(s.keyed("network-log", "log.network"), false, "log what programs of skills ask the network for, as it happens, whatever the\nlevel: how to find out what a skill needs")
}

// Choices returns the words that a flag of all commands may have, or none where it
// may have others.
func (s *Settings) Choices(flag string) []string {
	for _, each := range s.keys {
		if each.flag == flag {
			return config.Choices(each.key)
		}
	}
	return nil
}

// FlagNames returns the names of the flags that set a key.
func (s *Settings) FlagNames() (names []string) {
	for _, each := range s.keys {
		names = append(names, each.flag)
	}
	return names
}

// Again returns settings of the same command line, to be read for the project
// of somebody else.
func (s *Settings) Again() *Settings {
	return &Settings{flags: s.flags, keys: s.keys, file: s.file, Redact: s.Redact}
}

// Read reads the configuration: the file, variables, flags and ROOT arguments,
// and what the project's file narrows. Where that one cannot be used, the
// strictest is in force, and ProjectError says so.
func (s *Settings) Read(rootArguments []string) error {
	userDir, _ := os.UserConfigDir() // without one there is no file
	effective, err := config.Load(config.Sources{
		File: s.file, UserDir: userDir, Environ: os.Environ(), Flags: s.given(rootArguments),
	})
	if err != nil {
		return AsUsage(err)
	}
	s.Effective = effective
	if s.Quiet && s.Origin("log.level").Kind == config.FromDefault {
		s.Log.Level = "error"
	}
	if s.Anywhere && s.Origin("approval.mode").Kind == config.FromDefault {
		s.Approval.Mode = "ask" // it is not known that a host asks
	}
	if s.Unshared {
		s.Project.Access, s.Project.Shares = config.Off, nil
	}
	dir, err := s.project()
	if err != nil {
		return err
	}
	if dir != "" {
		_ = s.Narrow(dir) // which is told where it matters: see ProjectError
	}
	s.learnSecrets()
	return nil
}

// learnSecrets has this process write none of the secrets that are granted and can
// be read without asking: it may show what a program has left long ago.
func (s *Settings) learnSecrets() {
	for _, granted := range s.allGrants() {
		for name, secret := range granted.Secrets {
			secrets.Learn(s.Redact, name, cmp.Or(secret.Source, secrets.Environment(name)))
		}
	}
}

// allGrants returns what is granted to skills in either file.
func (s *Settings) allGrants() []config.Grants {
	all, _ := s.Granted.All() // what is wrong with the file is told elsewhere
	skills := slices.Collect(maps.Values(all))
	for name := range s.Skills {
		own, _, _ := s.OwnGrants(name)
		skills = append(skills, own)
	}
	return skills
}

// given returns what the command line says.
func (s *Settings) given(rootArguments []string) (given []config.Flag) {
	for _, each := range s.keys {
		flag := s.flags.Lookup(each.flag)
		if !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if list, isList := flag.Value.(pflag.SliceValue); isList {
			values = slices.Clone(list.GetSlice())
		}
		for i := range values {
			values[i] = fromHere(each.key, values[i])
		}
		given = append(given, config.Flag{Name: "--" + each.flag, Key: each.key, Values: values})
	}
	if len(rootArguments) > 0 {
		given = append(given, config.Flag{Name: "ROOT", Key: "roots", Values: rootArguments})
	}
	return given
}

// CommandLine returns the flags that are given and those arguments as a server takes
// them that is started anywhere: with absolute paths.
func (s *Settings) CommandLine(rootArguments []string) ([]string, error) {
	var line []string
	if s.file != "" {
		file, err := filepath.Abs(s.file)
		if err != nil {
			return nil, err
		}
		line = append(line, "--config="+file)
	}
	for _, given := range s.given(nil) {
		for _, value := range given.Values {
			if given.Key == "sandbox.show" {
				value = absolute(value)
			}
			line = append(line, given.Name+"="+value)
		}
	}
	home, _ := os.UserHomeDir() // without one, "~" is refused below
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for _, argument := range rootArguments {
		root, err := catalog.ParseRoot(argument, here, home)
		if err != nil {
			return nil, exit.Misused(err)
		}
		line = append(line, root.Argument())
	}
	return line, nil
}

// fromHere makes a path on the command line absolute where a file may not have
// one that is relative.
func fromHere(key, value string) string {
	isPath := slices.Contains([]string{"audit.dir", "project.dir", "project.shares"}, key)
	if !isPath || value == "" || value == config.Auto || value == config.Off {
		return value
	}
	return absolute(value)
}

// absolute makes a path absolute that is not below the home directory.
func absolute(path string) string {
	if strings.HasPrefix(path, "~/") {
		return path
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path // which is refused
	}
	return absolute
}

// AsUsage marks faults of the command line.
func AsUsage(err error) error {
	if refused, ok := errors.AsType[*config.Error](err); ok && refused.Faults[0].Origin.Kind == config.FromFlag {
		return exit.Misused(err)
	}
	return err
}

// project returns the directory of the project whose file narrows the
// configuration, or nothing.
func (s *Settings) project() (string, error) {
	switch dir := s.Project.Dir; {
	case dir == config.Off, dir == config.Auto && s.Anywhere:
		return "", nil
	case dir == config.Auto:
		return topDir()
	default:
		return ExpandHome(dir)
	}
}

// OperatorPolicy returns the operator's policy.
func (s *Settings) OperatorPolicy() policy.Policy {
	return policy.Policy{Mode: policy.Mode(s.AllowedTools)}
}

// IsStrict reports whether what the reference validator rejects is left out.
func (s *Settings) IsStrict() bool { return s.Strict || s.Validation == "strict" }

// WantedToolsets returns the toolsets that are switched on, each once.
func (s *Settings) WantedToolsets() ([]server.Toolset, error) {
	var wanted []server.Toolset
	for _, name := range s.Toolsets {
		toolset, err := server.ParseToolset(name)
		if err != nil {
			return nil, AsUsage(s.Refuse("toolsets", err))
		}
		if !slices.Contains(wanted, toolset) {
			wanted = append(wanted, toolset)
		}
	}
	if s.Sandbox.MountAll && len(wanted) == 0 {
		return nil, AsUsage(s.Refuse("sandbox.mountAll", errors.New("needs --toolsets=workspace too: only bash_tool sees all skills")))
	}
	return wanted, nil
}

// RunLimits returns those of the runs of a skill.
func (s *Settings) RunLimits(skill string) server.Limits {
	l := s.Skill(skill).Limits
	return server.Limits{Longest: l.MaxTimeout, Instructions: l.Instructions, Limits: sandbox.Limits{
		Timeout: l.Timeout, OutputBytes: l.Output, SpillBytes: l.Spill, MemoryBytes: l.Memory, MilliCPUs: l.MilliCPUs, Processes: l.Processes,
		FileBytes: l.FileSize, OpenFiles: l.OpenFiles, WorkspaceBytes: l.WorkspaceSize, WorkspaceFiles: l.WorkspaceFiles,
	}}
}

// Approvals returns what users are asked before it is done.
func (s *Settings) Approvals(log *slog.Logger) server.Approval {
	asked := server.Approval{Modes: modesOf(s.Approval), Skills: map[string]approval.Modes{}, Answers: rememberedAnswers(log)}
	for name := range s.Skills {
		asked.Skills[name] = modesOf(s.Skill(name).Approval)
	}
	return asked
}

func modesOf(a config.Approval) approval.Modes {
	return approval.Modes{
		Apply: approval.Mode(a.Mode), Runs: approval.Mode(a.Runs), Reads: approval.Mode(a.Reads), Network: approval.Mode(a.Network),
	}
}

// CatalogRoots returns the roots that are named, or the default ones.
func (s *Settings) CatalogRoots() ([]catalog.Root, error) {
	project, err := ProjectDir()
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one, "~" is refused below
	if s.Origin("roots").Kind == config.FromDefault {
		return catalog.DefaultRoots(project, home), nil
	}
	var roots []catalog.Root
	s.rootsFrom, s.pluginsLeftOut = nil, nil
	for i, named := range s.Roots {
		found, err := s.rootsOf(named, project, home)
		if err != nil && s.Origin("roots").Kind == config.FromFlag {
			return nil, exit.Misused(err)
		}
		if err != nil {
			return nil, s.Refuse(fmt.Sprintf("roots[%d]", i), err)
		}
		roots = append(roots, found...)
		s.rootsFrom = append(s.rootsFrom, slices.Repeat([]int{i}, len(found))...)
	}
	return roots, nil
}

// pluginsScheme marks a root as the directory in which Claude Code has its plugins.
const pluginsScheme = "plugins:"

// rootsOf returns what a root stands for: itself, or those of plugins.
func (s *Settings) rootsOf(named config.Root, project, home string) ([]catalog.Root, error) {
	path, isPlugins := strings.CutPrefix(named.Path, pluginsScheme)
	root, err := catalog.ParseRoot(path, project, home)
	if err == nil {
		root, err = withKeys(root, named)
	}
	if err != nil || !isPlugins {
		return []catalog.Root{root}, err
	}
	found, leftOut, err := plugins.Roots(root.Path, project)
	if errors.Is(err, fs.ErrNotExist) { // as any root that is not there
		return []catalog.Root{{Path: root.Path, Optional: root.Optional}}, nil
	}
	s.pluginsLeftOut = append(s.pluginsLeftOut, leftOut...)
	if root.Prefix != "" {
		for i := range found {
			found[i].Prefix = root.Prefix + "/" + found[i].Prefix
		}
	}
	return found, err
}

// Hides reports whether a skill of the root of that index among
// [Settings.CatalogRoots] is hidden.
func (s *Settings) Hides(root int, name string) bool {
	if root < len(s.rootsFrom) {
		root = s.rootsFrom[root]
	}
	return s.Effective.Hides(root, name)
}

// withKeys adds what a file says of a root besides its path.
func withKeys(root catalog.Root, named config.Root) (catalog.Root, error) {
	root.Pack = root.Pack || named.Pack
	root.Entry, root.Optional = named.Entry, named.Optional
	if named.Prefix != "" {
		root.Prefix = named.Prefix
	}
	return root, root.Validate()
}

// topDir returns the project's directory where the host names it, else the top of
// the version-controlled tree of the working directory, else that itself.
func topDir() (string, error) {
	dir, err := ProjectDir()
	if err != nil || os.Getenv("CLAUDE_PROJECT_DIR") != "" {
		return dir, err
	}
	if found, err := project.Find(project.Sources{Detect: true}, project.Places{WorkingDir: dir}); err == nil {
		return found, nil
	}
	return dir, nil
}

// ProjectDir is what relative paths are relative to. Hosts start servers in
// directories of their own choice; Claude Code names the project's.
func ProjectDir() (string, error) {
	if dir := os.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir, nil
	}
	return os.Getwd()
}

// ExpandHome returns a path in which ~/ stands for the home directory.
func ExpandHome(name string) (string, error) {
	rest, found := strings.CutPrefix(name, "~/")
	if !found {
		return name, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, rest), err
}
