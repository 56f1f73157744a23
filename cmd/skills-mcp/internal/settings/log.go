package settings

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// Logger logs to stderr alone: stdout belongs to the protocol. On a terminal it
// is coloured text, else JSON lines.
func (s *Settings) Logger(stderr io.Writer) (*slog.Logger, error) {
	level, format := s.Log.Level, s.Log.Format
	var threshold slog.Level
	if err := threshold.UnmarshalText([]byte(level)); err != nil {
		return nil, exit.Misused(fmt.Errorf("--log-level %q is none of debug, info, warn, error", level))
	}
	terminal := terminal.Is(stderr)
	switch {
	case format == "json" || (format == "auto" && !terminal):
		return slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: threshold})), nil
	case format == "text" || format == "auto":
		return slog.New(tint.NewTextHandler(stderr, &tint.Options{Level: threshold, TimeFormat: time.TimeOnly, NoColor: !terminal})), nil
	}
	return nil, exit.Misused(fmt.Errorf("--log-format %q is none of auto, text, json", format))
}
