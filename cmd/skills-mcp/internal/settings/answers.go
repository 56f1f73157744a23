package settings

import (
	"fmt"
	"log/slog"

	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
)

// OpenAnswers returns what remembers the user's answers.
func OpenAnswers(log *slog.Logger) (*answers.Store, error) {
	dir, err := statedir.Path("grants")
	if err != nil {
		return nil, fmt.Errorf("there is no directory for grants: %w", err)
	}
	return answers.New(answers.Options{Dir: dir, Logger: log}), nil
}

// rememberedAnswers is [OpenAnswers] for a server, which does without.
func rememberedAnswers(log *slog.Logger) *answers.Store {
	store, err := OpenAnswers(log)
	if err != nil {
		log.Warn("nothing can be allowed for always", "error", err)
	}
	return store
}
