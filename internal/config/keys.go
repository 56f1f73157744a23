package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// What a project's file may do.
const (
	narrowsSmaller = "smaller"
	narrowsLater   = "stricter"
	narrowsAdds    = "adds"
	narrowsOff     = "`off`"
	narrowsTrue    = "`true`"
)

// Words that several keys have, the one that grants most first.
var (
	accesses  = []string{"write", "review", "read", Off}
	approvals = []string{"host", "ask", "deny"}
	consents  = []string{"free", "ask", "deny"}
	asks      = []string{"ask", "deny"}
)

// keys is the table of all keys, whose values are read to a configuration.
func keys(c *Config) group {
	return group{
		{name: "roots", env: "ROOTS", value: roots(&c.Roots), doc: "Where skills are looked for, in order; of two skills with one name the first wins. An item is a ROOT as on the command line, or has keys of its own."},
		{name: "disabled", env: "DISABLED", value: names(&c.Disabled), narrows: narrowsAdds, doc: "Skills that are hidden everywhere, as if they were not there."},
		{name: "pin", env: "PIN", flag: true, value: texts(&c.Pin, "names of skills", nameSchema(), plainName), doc: "Skills that the instructions list first."},
		{name: "strict", env: "STRICT", flag: true, value: boolean(&c.Strict), narrows: narrowsTrue, doc: "Leave out every skill that the Agent Skills reference validator rejects."},
		{name: "validation", env: "VALIDATION", value: choice(&c.Validation, "lenient", "spec", "strict"), narrows: narrowsLater, doc: "Which faults leave a skill out: those for which it cannot be used; with `spec` those of its name, its description and the name of `SKILL.md` too; with `strict` what the reference validator rejects, as by `strict: true`."},
		{name: "maxSkills", env: "MAX_SKILLS", value: integer(&c.MaxSkills, 1, 20_000), narrows: narrowsSmaller, doc: "How many skills there may be: those of earlier roots, and in a root those nearer to it; how many are left out is told."},
		{name: "poll", env: "POLL", flag: true, value: duration(&c.Poll, 0, 24*time.Hour), doc: "Look for changes every so often, for network file systems; `0s` waits for the kernel's news."},
		{name: "compatIndex", env: "COMPAT_INDEX", flag: true, value: boolean(&c.CompatIndex), doc: "Serve `skill://index.json` too."},
		{name: "session", env: "SESSION", flag: true, value: text(&c.Session, "`auto`, `off`, or a name", notEmpty), doc: "The session of the host, for which the names of activated skills are remembered; `auto` is `$CLAUDE_CODE_SESSION_ID`, where that is set."},
		{name: "toolsets", env: "TOOLSETS", flag: true, value: words(&c.Toolsets, "workspace"), doc: "Further tools."},
		{name: "exposePackTools", env: "EXPOSE_PACK_TOOLS", flag: true, value: boolean(&c.ExposePackTools), doc: "Have the tools of skills' `tools.json` be tools of the server too."},
		{name: "allowedTools", env: "ALLOWED_TOOLS", flag: true, value: choice(&c.AllowedTools, "log", "enforce"), narrows: narrowsLater, doc: "How skills' `allowed-tools` are taken; with `log`, what is not listed is allowed, and logged."},
		{name: "sandbox", value: sandboxKeys(&c.Sandbox), doc: "What runs programs."},
		{name: "limits", value: limitKeys(&c.Limits, true), doc: "What one run may use, and one activation show."},
		{name: "workspaces", value: workspaceKeys(&c.Workspaces), doc: "The directories that programs write to."},
		{name: "project", value: projectKeys(&c.Project), doc: "What programs see of your own files."},
		{name: "approval", value: approvalKeys(&c.Approval, "APPROVAL"), doc: "What you are asked for."},
		{name: "audit", value: auditKeys(&c.Audit), doc: "The log of what was done."},
		{name: "log", value: logKeys(&c.Log), doc: "The program's own log, on standard error."},
		{name: "hosted", value: hostedKeys(&c.Hosted), doc: "The Claude API, for `skills-mcp hosted` and `--sandbox=hosted`."},
		{name: "metrics", value: metricsKeys(&c.Metrics), doc: "What Prometheus reads."},
		{name: "skills", narrows: "stricter", doc: "What holds for one skill, by its name.", value: sections[Skill]{
			to: &c.Skills, fields: skillKeys, check: plainName, means: "sections by names of skills", resolve: c.Skill,
		}},
	}
}

func sandboxKeys(s *Sandbox) group {
	return group{
		{name: "backend", env: "SANDBOX", flag: true, value: offOr(&s.Backend, Auto, "local", "docker", "hosted", Off, "unsafe-host"), narrows: narrowsOff, doc: "What isolates programs; `auto` takes the best there is."},
		{name: "show", env: "SHOW", flag: true, value: texts(&s.Show, "paths", textSchema(), notEmpty), doc: "Files and directories that programs in the local sandbox may read besides the system's."},
		{name: "mountAll", env: "MOUNT_ALL", flag: true, value: boolean(&s.MountAll), doc: "Show the commands of `bash_tool` that are of no skill all skills that keep nothing from them, at `/mnt/skills/NAME`; needs the toolset `workspace`."},
		{name: "maxRuns", env: "MAX_RUNS", flag: true, value: integer(&s.MaxRuns, 0, 10_000), doc: "How many programs run at once; `0` is twice the number of processors, at least 4."},
		{name: "docker", doc: "Containers.", value: group{
			{name: "image", env: "DOCKER_IMAGE", flag: true, value: text(&s.Docker.Image, "an image", notEmpty), doc: "The image of containers."},
			{name: "runtime", env: "DOCKER_RUNTIME", flag: true, value: text(&s.Docker.Runtime, "a runtime's name", anyText), doc: "The engine's runtime, such as `runsc` (gVisor); empty for the engine's own."},
		}},
	}
}

// limitKeys are those of all skills, which have flags, or of one.
func limitKeys(l *Limits, flags bool) group {
	const most = 24 * time.Hour
	const most64 = int64(1) << 50
	return group{
		{name: "timeout", env: "LIMITS_TIMEOUT", flag: flags, as: "timeout", value: duration(&l.Timeout, time.Second, most), narrows: narrowsSmaller, doc: "How long a run may take that asks for no time of its own; never more than `maxTimeout`."},
		{name: "maxTimeout", env: "LIMITS_MAX_TIMEOUT", value: duration(&l.MaxTimeout, time.Second, most), narrows: narrowsSmaller, doc: "How long any run may take."},
		{name: "output", env: "LIMITS_OUTPUT", value: size(&l.Output, 1<<10, 1<<30), narrows: narrowsSmaller, doc: "How much of each stream a result keeps."},
		{name: "spill", env: "LIMITS_SPILL", value: size(&l.Spill, 1<<10, most64), narrows: narrowsSmaller, doc: "How much a run may write to each stream before it is killed."},
		{name: "memory", env: "LIMITS_MEMORY", flag: flags, as: "memory", value: size(&l.Memory, 16<<20, most64), narrows: narrowsSmaller, doc: "Memory of all processes of a run together."},
		{name: "cpus", env: "LIMITS_CPUS", flag: flags, as: "cpus", value: thousandths(&l.MilliCPUs, 10, 1024_000), narrows: narrowsSmaller, doc: "Processors that all processes of a run together may keep busy; as many as there are or more is no bound."},
		{name: "processes", env: "LIMITS_PROCESSES", value: integer(&l.Processes, 4, 1<<20), narrows: narrowsSmaller, doc: "Processes and threads of a run."},
		{name: "fileSize", env: "LIMITS_FILE_SIZE", value: size(&l.FileSize, 1<<10, most64), narrows: narrowsSmaller, doc: "The largest file that a run may write."},
		{name: "openFiles", env: "LIMITS_OPEN_FILES", value: integer(&l.OpenFiles, 32, 1<<20), narrows: narrowsSmaller, doc: "Files that a process may have open."},
		{name: "workspaceSize", env: "LIMITS_WORKSPACE_SIZE", value: size(&l.WorkspaceSize, 1<<20, most64), narrows: narrowsSmaller, doc: "What a workspace may hold."},
		{name: "workspaceFiles", env: "LIMITS_WORKSPACE_FILES", value: integer(&l.WorkspaceFiles, 16, 1<<30), narrows: narrowsSmaller, doc: "How many files and directories a workspace may hold."},
		{name: "instructions", env: "LIMITS_INSTRUCTIONS", value: size(&l.Instructions, 1<<10, 1<<20), narrows: narrowsSmaller, doc: "How much of a skill's instructions is shown when it is activated; where to read on is said."},
	}
}

func workspaceKeys(w *Workspaces) group {
	return group{
		{name: "idle", env: "WORKSPACES_IDLE", value: duration(&w.Idle, time.Minute, 30*24*time.Hour), doc: "How long a workspace lives after its last use."},
		{name: "max", env: "WORKSPACES_MAX", value: integer(&w.Max, 1, 1<<20), doc: "How many workspaces there may be at once."},
	}
}

func projectKeys(p *Project) group {
	return group{
		{name: "dir", env: "PROJECT", flag: true, value: text(&p.Dir, "`auto`, `off`, or a path", ownPathOr(Auto, Off)), doc: "The project's directory."},
		{name: "access", env: "PROJECT_ACCESS", flag: true, value: choice(&p.Access, accesses...), narrows: narrowsLater, doc: "What programs may do with the project's files."},
		{name: "shares", env: "SHARE", flag: true, value: shares(&p.Shares), doc: "Further directories and files that programs see."},
		{name: "hidden", env: "PROJECT_HIDDEN", value: globs(&p.Hidden), narrows: narrowsAdds, doc: "Files that no program sees, besides those that are always hidden."},
		{name: "protected", env: "PROJECT_PROTECTED", value: globs(&p.Protected), narrows: narrowsAdds, doc: "Files that no program changes, besides those that are always protected."},
		{name: "shown", env: "PROJECT_SHOWN", value: globs(&p.Shown), doc: "Files that programs see although they are among those that are always hidden."},
		{name: "write", env: "PROJECT_WRITE", value: globs(&p.Write), doc: "Files that are changed at the end of a run without being looked at first; never those that are protected."},
	}
}

// approvalKeys are those of all skills, or of one where no variable has them.
func approvalKeys(a *Approval, env string) group {
	below := func(name string) string {
		if env == "" {
			return ""
		}
		return env + name
	}
	return group{
		{name: "mode", env: env, flag: env != "", value: choice(&a.Mode, approvals...), narrows: narrowsLater, doc: "Who asks you before your files are changed: the host by its own prompt, or the server; `ask` is the default of `skills-mcp serve`."},
		{name: "runs", env: below("_RUNS"), value: choice(&a.Runs, consents...), narrows: narrowsLater, doc: "Whether runs need consent."},
		{name: "reads", env: below("_READS"), value: choice(&a.Reads, consents...), narrows: narrowsLater, doc: "Whether reads of skills need consent."},
		{name: "network", env: below("_NETWORK"), value: choice(&a.Network, asks...), narrows: narrowsLater, doc: "Whether the server asks you when a program wants to reach a host that its skill is not granted."},
	}
}

func auditKeys(a *Audit) group {
	return group{
		{name: "dir", env: "AUDIT", flag: true, value: text(&a.Dir, "`auto`, `off`, or a path", ownPathOr(Auto, Off)), doc: "Its directory; `auto` is one in your state directory."},
		{name: "maxSize", env: "AUDIT_MAX_SIZE", value: size(&a.MaxSize, 64<<10, 1<<30), doc: "The size at which a new file is begun."},
		{name: "maxFiles", env: "AUDIT_MAX_FILES", value: integer(&a.MaxFiles, 2, 1000), doc: "How many files there are at most."},
		{name: "failure", env: "AUDIT_FAILURE", value: choice(&a.Failure, "continue", "fail"), doc: "What becomes of a call that cannot be logged."},
	}
}

func logKeys(l *Log) group {
	return group{
		{name: "level", env: "LOG_LEVEL", flag: true, value: choice(&l.Level, "debug", "info", "warn", "error"), doc: "The least severe level."},
		{name: "format", env: "LOG_FORMAT", flag: true, value: choice(&l.Format, Auto, "text", "json"), doc: "The form; `auto` is text on a terminal, else JSON."},
		{name: "network", env: "NETWORK_LOG", flag: true, value: boolean(&l.Network), doc: "Log what programs of skills ask the network for, whatever the level."},
	}
}

func hostedKeys(h *Hosted) group {
	return group{
		{name: "baseUrl", env: "HOSTED_BASE_URL", value: text(&h.BaseURL, "a URL", anyText), doc: "Where it is; empty for `$ANTHROPIC_BASE_URL`, or the API's own."},
		{name: "key", env: "HOSTED_KEY", value: source(&h.Key), doc: "Where the API key is, which goes nowhere else."},
		{name: "model", env: "HOSTED_MODEL", value: text(&h.Model, "a model's id", anyText), doc: "The model that starts programs with `--sandbox=hosted`, and is paid for; it has to have the code execution tool."},
	}
}

func metricsKeys(m *Metrics) group {
	return group{
		{name: "address", env: "METRICS", flag: true, as: "metrics", value: text(&m.Address, "`off`, or an address of loopback and a port, which may be 0", loopbackOr(Off)), doc: "Where `/metrics` is served, besides by `skills-mcp serve`."},
		{name: "skills", env: "METRICS_SKILLS", value: boolean(&m.Skills), doc: "Have the metrics tell skills apart by their names."},
	}
}

// loopbackOr checks a port of this machine that nobody else reaches.
func loopbackOr(words ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		if at, err := netip.ParseAddrPort(text); err != nil || !at.Addr().IsLoopback() {
			return fmt.Errorf("%s is no address of loopback with a port, such as 127.0.0.1:9464", quoted(text))
		}
		return nil
	}
}

// skillKeys are those of a section of one skill.
func skillKeys(s *Skill) group {
	limits := limitKeys(&s.Limits, false)
	for i := range limits {
		limits[i].env = ""
	}
	own := group{
		{name: "limits", value: limits, doc: "What its runs may use and its activation shows: no more than what is said for all skills."},
		{name: "approval", value: approvalKeys(&s.Approval, ""), doc: "What you are asked for: no less than what is said for all skills."},
	}
	return append(own, grantKeys(&s.Grants)...)
}

// plainName checks the name of a skill.
func plainName(text string) error {
	if err := namePattern(text); err != nil {
		return err
	}
	if strings.ContainsAny(text, "*.") {
		return fmt.Errorf("%s is no name of a skill", quoted(text))
	}
	return nil
}

func nameSchema() object { return object{"type": "string", "minLength": 1, "maxLength": 64} }

func names(to *[]string) value {
	return texts(to, "names of skills, in which `*` stands for any characters", nameSchema(), namePattern)
}

func globs(to *[]string) value {
	return texts(to, "patterns such as `out/**` and `*.key`", textSchema(), glob)
}

// words is a list of some words.
func words(to *[]string, words ...string) value {
	return texts(to, "`"+strings.Join(words, "`, `")+"`", object{"enum": words}, oneOf(words))
}

func roots(to *[]Root) value {
	return list[Root]{
		to: to, blank: Root{Visible: []string{"*"}}, required: "path", means: "ROOTs", item: textSchema(),
		parse: func(text string) (Root, error) {
			return Root{Path: text, Visible: []string{"*"}}, checkText(text, notEmpty)
		},
		fields: func(r *Root) group {
			return group{
				{name: "path", value: text(&r.Path, "a ROOT", notEmpty), doc: "A directory of skills, one skill's directory, or an archive; relative to the project."},
				{name: "prefix", value: text(&r.Prefix, "segments of `a-z`, `0-9` and `-` joined by `/`", anyText), doc: "What is put before the skills' URIs."},
				{name: "pack", value: boolean(&r.Pack), doc: "A directory of capability packs."},
				{name: "entry", value: text(&r.Entry, "a file's name", anyText), doc: "The entry document of packs; empty for the first of `SKILL.md`, `README.md` and other `*.md`."},
				{name: "optional", value: boolean(&r.Optional), doc: "Its absence is no problem."},
				{name: "visible", value: visible{&r.Visible}, doc: "Which of its skills there are; the others are hidden as if they were disabled."},
			}
		},
		same: func(a, b Root) bool { return a.Path == b.Path && a.Prefix == b.Prefix },
	}
}

func shares(to *[]Share) value {
	words := accesses[:3]
	return list[Share]{
		to: to, blank: Share{Access: "review"}, required: "path", means: "`PATH` or `PATH:ACCESS`", item: textSchema(), parse: parseShare,
		fields: func(s *Share) group {
			return group{
				{name: "path", value: text(&s.Path, "a path", ownPath), doc: "A directory or file, absolute or below `~/`."},
				{name: "access", value: choice(&s.Access, words...), doc: "What programs may do with it."},
			}
		},
		same: func(a, b Share) bool { return a.Path == b.Path },
	}
}

// parseShare reads a share as it is written on a command line:
// PATH[:read|review|write]. Without one it is review.
func parseShare(text string) (Share, error) {
	share := Share{Path: text, Access: "review"}
	if i := strings.LastIndexByte(text, ':'); i >= 0 && slices.Contains(accesses[:3], text[i+1:]) {
		share = Share{Path: text[:i], Access: text[i+1:]}
	} else if i > 0 && strings.HasSuffix(text, ":"+Off) {
		return Share{}, errors.New("leave the share out instead of giving it no access")
	}
	return share, checkText(share.Path, ownPath)
}
