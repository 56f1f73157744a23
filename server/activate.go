package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxListedFiles is how many files an activation names.
const maxListedFiles = 200

type activateArguments struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (s *Server) activateTool() tool {
	definition := mcp.NewTool("activate",
		mcp.WithDescription("Load a skill's instructions. Call this BEFORE doing a task that a skill covers, then follow what it says. Gives the instructions, the skill's files, its scripts and tools, and what it may do. Use findSkills to learn which skills there are."),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(256),
			mcp.Description("The skill's name, exactly as findSkills or the server's instructions give it.")),
		mcp.WithString("arguments", mcp.MaxLength(100_000),
			mcp.Description("What the user said for this skill, in their words; put where the instructions say $ARGUMENTS.")),
		mcp.WithSchemaAdditionalProperties(false),
		annotations("Activate a skill", true, false, true, false),
		alwaysLoad(map[string]any{"anthropic/maxResultSizeChars": 200_000}),
	)
	return tool{definition: definition, handle: s.activate}
}

func (s *Server) activate(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	arguments, err := decode[activateArguments](raw)
	if err != nil {
		return nil, err
	}
	skill, err := s.skills.Find(ctx, arguments.Name)
	if err != nil {
		return nil, err
	}
	text, err := s.activation(ctx, skill, arguments.Arguments)
	if err != nil {
		return nil, err
	}
	s.log.Info("skill activated", "skill", skill.Name)
	// Content only: hosts that see structured content show the model nothing
	// else.
	return mcp.NewToolResultText(text), nil
}

// activation is what a model reads when a skill is activated, by tool or by
// prompt.
func (s *Server) activation(ctx context.Context, skill *catalog.Skill, arguments string) (string, error) {
	var text strings.Builder
	err := skills.WithTree(skill, func(tree *contained.Dir) error {
		read, err := skills.ReadInstructions(skill, tree)
		if err != nil {
			return err
		}
		files, more, err := skillFiles(tree)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "<skill_content name=%q>\n", skill.Name)
		text.WriteString(sealed(strings.TrimSpace(withArguments(read.Body, arguments))))
		text.WriteString("\n\n<skill_runtime>\n")
		if read.Fault != "" {
			fmt.Fprintf(&text, "The frontmatter is broken at the moment and was taken as it was before (%s).\n", sealed(display.Line(read.Fault)))
		}
		s.writeFiles(&text, skill, files, more)
		s.writeTools(&text, skill, tree)
		s.writeRights(&text, skill)
		s.writeVisible(&text, skill, tree, read.Body)
		if missing := s.missing(ctx, skill, files); missing != "" {
			fmt.Fprintf(&text, "%s Do without the programs that need them, or tell the user what to install.\n", sealed(missing))
		}
		text.WriteString("</skill_runtime>\n</skill_content>")
		return nil
	})
	return text.String(), err
}

// missing says what the sandbox is missing for a skill, or nothing.
func (s *Server) missing(ctx context.Context, skill *catalog.Skill, files []contained.Entry) string {
	if s.opts.Sandbox == nil || s.skills.Policy.Mode != policy.Log && !s.skills.Grants(skill).Execute() {
		return ""
	}
	return requirement.Text(s.requirements.OfSkill(ctx, skill, files))
}

// sealed keeps a text from closing the element that it is wrapped in.
func sealed(text string) string {
	return sealer.ReplaceAllString(text, "&lt;$1")
}

var sealer = regexp.MustCompile(`(?i)<(/?skill_(?:content|runtime))`)

// skillFiles lists a skill's files, directories left out. more tells that
// there are others, or may be, in directories that lie too deep.
func skillFiles(tree *contained.Dir) (files []contained.Entry, more bool, err error) {
	entries, more, err := tree.List(".", skills.ListDepth)
	if err != nil {
		return nil, false, err
	}
	for _, entry := range entries {
		if entry.Dir {
			more = more || strings.Count(entry.Path, "/")+1 == skills.ListDepth
			continue
		}
		if len(files) == maxListedFiles {
			return files, true, nil
		}
		files = append(files, entry)
	}
	return files, more, nil
}

func (s *Server) writeFiles(text *strings.Builder, skill *catalog.Skill, files []contained.Entry, more bool) {
	files = slices.DeleteFunc(files, func(file contained.Entry) bool { return file.Path == skill.Entry })
	if len(files) == 0 && !more {
		text.WriteString("This skill has no files besides these instructions.\n")
		return
	}
	fmt.Fprintf(text, "Files of this skill (read one with readResource {\"name\": %q, \"path\": …}):\n", skill.Name)
	for _, file := range files {
		fmt.Fprintf(text, "- %s (%s)\n", sealed(display.Path(file.Path)), display.Size(file.Size))
	}
	if more {
		text.WriteString("- … and more: readResource with a directory as `path` lists it\n")
	}
}

// writeTools shows the tools of a tools.json, with their schemas.
func (s *Server) writeTools(text *strings.Builder, skill *catalog.Skill, tree *contained.Dir) {
	if !skill.HasTools {
		return
	}
	tools, faults, err := skills.ReadTools(skill, tree)
	if err != nil {
		fmt.Fprintf(text, "Its tools.json cannot be used: %s\n", sealed(display.Line(failure.Of(err).Message)))
		return
	}
	fmt.Fprintf(text, "Tools (call one with exec {\"name\": %q, \"tool\": …, \"input\": {…}}):\n", skill.Name)
	for _, t := range tools {
		fmt.Fprintf(text, "- %s: %s\n  input schema: %s\n", t.Name, sealed(display.Line(t.Description)), sealed(compact(t.InputSchema)))
	}
	if len(faults) > 0 {
		fmt.Fprintf(text, "Left out of its tools.json, because of faults that its author has to mend: %d, the first because %s\n", len(faults), sealed(display.Line(faults[0])))
	}
}

// compact takes the white space out of JSON that is known to be valid.
func compact(raw []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return string(raw)
	}
	return out.String()
}

// writeRights says what the skill may do and what runs it.
func (s *Server) writeRights(text *strings.Builder, skill *catalog.Skill) {
	if grants := s.skills.Grants(skill); grants != nil {
		entries := "nothing"
		if list := grants.Entries(); len(list) > 0 {
			entries = strings.Join(list, ", ")
		}
		fmt.Fprintf(text, "Allowed tools: %s. Anything else is denied.\n", sealed(display.Line(entries)))
	}
	if skill.Compatibility != "" {
		fmt.Fprintf(text, "Compatibility, as the author states it: %s\n", sealed(display.Line(skill.Compatibility)))
	}
	if s.opts.Sandbox == nil {
		fmt.Fprintf(text, "Execution: off. %s\n", s.opts.Unavailable)
		return
	}
	info := s.opts.Sandbox.Info()
	fmt.Fprintf(text, "Execution: exec runs scripts with this skill's directory at %s (do not write there) and a workspace at %s, where programs start and leave their results. Sandbox: %s, tier %s. %s\n",
		info.SkillDir, info.Workspace, info.Backend, info.Tier, info.Notice)
}
