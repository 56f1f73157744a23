// Package skills finds the skills of a catalog, each as it stands on disk at
// that moment, and asks the policy what may be done with them.
//
// It is safe for use by several goroutines. Names and URIs come from clients
// and are trusted with nothing.
package skills

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// maxEntryBytes bounds an entry document, in bytes. Hosts cut a result long
// before this; it is here so that no file can exhaust memory.
const maxEntryBytes = 1 << 20

// ListDepth is how deep listings for models go.
const ListDepth = 8

// Access is the way to the skills of one catalog under one policy.
type Access struct {
	Catalog *catalog.Catalog
	Policy  policy.Policy
	// Consent is what every reading of a skill's files passes.
	Consent *consent.Door
	// Digests are those of the files whose reading users are asked about.
	Digests *resources.Digests
	Log     *slog.Logger
}

// Snapshot returns the skills there are now.
func (a Access) Snapshot() *catalog.Snapshot { return a.Catalog.Snapshot() }

// Find returns the skill of a name, as its entry document stands on disk now.
// One that was broken by its last save is as it was last good.
func (a Access) Find(ctx context.Context, name string) (*catalog.Skill, error) {
	skill, ok := a.Snapshot().Lookup(name)
	if ok && (skill.Unread() || skill.Stale()) {
		var err error
		if skill, ok, err = a.Catalog.Refresh(ctx, name); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, a.missing(name)
	}
	return skill, nil
}

// missing says why there is no skill of a name.
func (a Access) missing(name string) error {
	fault, broken := a.Catalog.Fault(name)
	if !broken {
		return failure.NoSkill(name, similarNames(a.Snapshot(), name))
	}
	where := filepath.Base(fault.File)
	if fault.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", where, fault.Line, fault.Column)
	}
	// Paths of this machine are no client's business.
	message := strings.ReplaceAll(fault.Message, filepath.Dir(fault.File)+string(filepath.Separator), "")
	return failure.New(failure.InvalidFrontmatter, "Tell the user; its author has to correct it: "+fault.Hint+".",
		"the skill %q cannot be used: %s: %s (%s)", truncate.After(name, 80), where, message, fault.Rule)
}

// Resolve returns the skill and the file that a URI names, the skill as its
// entry document stands on disk now.
func (a Access) Resolve(ctx context.Context, uri string) (*catalog.Skill, string, error) {
	skill, file, err := resources.Resolve(a.Snapshot(), uri)
	if err != nil || !skill.Unread() && !skill.Stale() {
		return skill, file, err
	}
	if _, _, err := a.Catalog.Refresh(ctx, skill.Name); err != nil {
		return nil, "", err
	}
	return resources.Resolve(a.Snapshot(), uri)
}

// Grants parses what a skill declares. Faulty entries grant nothing.
func (a Access) Grants(skill *catalog.Skill) *policy.Grants {
	grants, faults := policy.Parse(skill.AllowedTools)
	for _, fault := range faults {
		a.Log.Warn("allowed-tools entry grants nothing", "skill", skill.Name, "fault", fault)
	}
	return grants
}

// Permit asks the policy, and turns a denial into a failure. The skill is nil
// for what no skill wants: that is bound by the sandbox alone.
func (a Access) Permit(ctx context.Context, skill *catalog.Skill, wanted policy.Request) error {
	if skill == nil {
		decision := a.Policy.Decide(nil, wanted)
		note(ctx, decision)
		if decision.Effect != policy.Allow {
			return failure.New(failure.PermissionDenied, decision.Hint, "%s (rule %q)", strings.TrimSuffix(decision.Reason, "."), decision.Rule)
		}
		return nil
	}
	Note(ctx, skill)
	decision := a.Policy.Decide(a.Grants(skill), wanted)
	note(ctx, decision)
	if decision.Logged {
		a.Log.Warn("not in allowed-tools, allowed by mode log", "skill", skill.Name, "op", wanted.Op, "rule", decision.Rule)
	}
	if decision.Effect != policy.Allow {
		return failure.Denied(skill.Name, decision)
	}
	return nil
}

// Note notes for the audit log which skill a request is about.
func Note(ctx context.Context, skill *catalog.Skill) {
	request.Note(ctx, func(record *audit.Record) { record.Skill = skill.Name })
}

// note notes what the policy decided. Of several decisions the last counts: one
// that denies ends a request.
func note(ctx context.Context, decision policy.Decision) {
	request.Note(ctx, func(record *audit.Record) { record.Decision, record.Rule = decision.Effect.String(), decision.Rule })
}

// PermitRead asks the policy about a file or directory of a skill, and the user
// where that is wanted. The entry document is what an activation shows, so the
// policy always lets it be read.
func (a Access) PermitRead(ctx context.Context, skill *catalog.Skill, file string) error {
	Note(ctx, skill)
	if file != skill.Entry {
		if err := a.Permit(ctx, skill, policy.Request{Op: policy.OpRead, Path: file}); err != nil {
			return err
		}
	}
	return a.approveRead(ctx, skill, file)
}

// Readable returns what reports whether a file or directory of a skill may be
// read, for listings: nothing is logged.
func (a Access) Readable(skill *catalog.Skill) func(file string) bool {
	grants, _ := policy.Parse(skill.AllowedTools)
	return func(file string) bool {
		return file == skill.Entry || a.Policy.Decide(grants, policy.Request{Op: policy.OpRead, Path: file}).Effect == policy.Allow
	}
}

// Open reports whether programs that are not a skill's own may see all of it.
func (a Access) Open(skill *catalog.Skill) bool {
	grants, _ := policy.Parse(skill.AllowedTools)
	return a.Policy.Open(grants)
}

// Open opens a skill's directory, which the caller closes.
func Open(skill *catalog.Skill) (*contained.Dir, error) {
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return nil, Gone(skill, err)
	}
	return dir, nil
}

// Files returns the paths of a skill's files, so many levels deep; none where it
// is gone.
func Files(skill *catalog.Skill, depth int) (files []string) {
	dir, err := Open(skill)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _, _ := dir.List(".", depth)
	for _, entry := range entries {
		if !entry.Dir {
			files = append(files, entry.Path)
		}
	}
	return files
}

// Gone is the failure of a skill whose directory cannot be opened any more.
func Gone(skill *catalog.Skill, err error) *failure.Failure {
	return &failure.Failure{Code: failure.SkillNotFound, Message: fmt.Sprintf("the skill %q is gone from disk", skill.Name),
		Hint: "Call findSkills to see the skills there are.", Cause: err}
}

// Owner names one version of a skill to the sandbox, as whose programs are to
// share their HOME and TMPDIR.
func Owner(skill *catalog.Skill, digest string) string { return skill.Path + "\n" + digest }

// Instructions are those of a skill as they stand on disk now.
type Instructions struct {
	Body string
	// Fault is what is wrong with the frontmatter, where the body can be
	// told from it even so; else empty.
	Fault string
	// Size is that of the file.
	Size  int64
	file  []byte
	start int // of the body in the file
}

// Head returns as many whole lines of the body as fit into so many bytes, and
// where in the file the rest begins, 0 where there is none. A long line that would
// leave less than half of it is cut between two characters.
func (i Instructions) Head(most int64) (head string, rest int64) {
	body := i.file[i.start:]
	if int64(len(body)) <= most {
		return i.Body, 0
	}
	end := bytes.LastIndexByte(body[:most], '\n') + 1
	if end < int(most)/2 {
		for end = int(most); end > int(most)-utf8.UTFMax && !utf8.RuneStart(body[end]); {
			end--
		}
	}
	return string(bytes.ToValidUTF8(body[:end], []byte("\uFFFD"))), int64(i.start + end)
}

// ReadInstructions reads a skill's instructions from its directory.
func ReadInstructions(skill *catalog.Skill, dir *contained.Dir) (Instructions, error) {
	content, err := dir.ReadAll(skill.Entry, maxEntryBytes)
	if err != nil {
		return Instructions{}, err
	}
	document, problems := catalog.ParseDocument(skill.Entry, content.Data)
	read := Instructions{Body: document.Body, Size: content.Size, file: content.Data, start: document.Start}
	if document.Frontmatter != nil {
		return read, nil
	}
	for _, problem := range problems {
		if problem.Severity == catalog.Error {
			read.Fault = fmt.Sprintf("%s, line %d: %s", skill.Entry, problem.Line, problem.Message)
			break
		}
	}
	if len(document.Body) >= len(content.Data) {
		return read, failure.New(failure.InvalidFrontmatter, "Tell the user; the author has to correct it.", "skill %q has no frontmatter any more: %s", skill.Name, read.Fault)
	}
	return read, nil
}
