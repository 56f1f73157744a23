package settings

import (
	"log/slog"
	"os"

	"github.com/skills-mcp/skills-mcp/internal/activated"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
	"github.com/skills-mcp/skills-mcp/server"
)

// sessionVariable is set by Claude Code for the servers that it starts.
const sessionVariable = "CLAUDE_CODE_SESSION_ID"

// Activated returns what remembers which skills were activated in the session of the
// host, or nil where there is no session, or more clients than one.
func (s *Settings) Activated(log *slog.Logger) server.Activated {
	name := s.Session
	if name == config.Auto {
		name = os.Getenv(sessionVariable)
	}
	if !s.OneClient || name == "" || s.Session == config.Off {
		return nil
	}
	dir, err := statedir.Path("sessions")
	if err != nil {
		log.Warn("which skills were activated is not remembered", "error", err)
		return nil
	}
	return activated.New(activated.Options{Dir: dir, Session: name, Logger: log})
}
