package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/config"
)

// ProjectFault says why a project's file cannot be used, or returns nil.
func (s *Settings) ProjectFault() error {
	if s.ProjectError == nil {
		return nil
	}
	return fmt.Errorf("the project's %s cannot be used, so nothing runs, and nothing of the project is shown or changed:\n%s", config.ProjectFile, terminal.Lines(s.ProjectError))
}

// FirstFault returns the first thing that an error says.
func FirstFault(err error) string {
	if refused, ok := errors.AsType[*config.Error](err); ok {
		return strings.TrimSuffix(terminal.Printable(refused.Faults[0].String()), ".")
	}
	return terminal.Printable(err.Error())
}

// Warn logs what of the configuration is not in force.
func (s *Settings) Warn(log *slog.Logger) {
	for _, warning := range s.Warnings {
		log.Warn(warning)
	}
	if s.ProjectError != nil {
		log.Error("the project's "+config.ProjectFile+" cannot be used, so nothing runs, and nothing of the project is shown or changed", "error", s.ProjectError)
	}
}

// WarnOfNames logs which names of the configuration are those of no skill.
func (s *Settings) WarnOfNames(log *slog.Logger, snapshot *catalog.Snapshot) {
	for _, plugin := range s.pluginsLeftOut {
		level := slog.LevelWarn
		if plugin.Off {
			level = slog.LevelDebug
		}
		log.Log(context.Background(), level, "the skills of a plugin are left out", "plugin", plugin.ID, "reason", plugin.Reason)
	}
	known := map[string]bool{}
	for _, skills := range [][]*catalog.Skill{snapshot.Skills(), snapshot.Hidden()} {
		for _, skill := range skills {
			known[skill.Name] = true
		}
	}
	for _, name := range s.Disabled {
		if !known[name] && !strings.Contains(name, "*") {
			log.Warn("the configuration disables a skill that is not there", "skill", name, "from", s.Origin("disabled").String())
		}
	}
	for name := range s.Skills {
		from := s.Origin("skills." + name)
		if !known[name] && filepath.Base(from.Name) != config.GrantsFile { // a grant is of a skill that may be in another project
			log.Warn("the configuration has a section for a skill that is not there", "skill", name, "from", from.String())
		}
	}
}
