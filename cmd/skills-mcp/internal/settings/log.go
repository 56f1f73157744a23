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
	var threshold slog.Level
	if err := threshold.UnmarshalText([]byte(s.Log.Level)); err != nil {
		return nil, exit.Misused(fmt.Errorf("--log-level %q is none of debug, info, warn, error", s.Log.Level))
	}
	return s.LoggerFrom(threshold, stderr)
}

// LoggerFrom is [Settings.Logger] for what is at least as severe as a threshold,
// whatever the settings say of that.
func (s *Settings) LoggerFrom(threshold slog.Level, stderr io.Writer) (*slog.Logger, error) {
	format, terminal := s.Log.Format, terminal.Is(stderr)
	switch {
	case format == "json" || (format == "auto" && !terminal):
		return slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: threshold})), nil
	case format == "text" || format == "auto":
		return slog.New(tint.NewTextHandler(stderr, &tint.Options{Level: threshold, TimeFormat: time.TimeOnly, NoColor: !terminal})), nil
	}
	return nil, exit.Misused(fmt.Errorf("--log-format %q is none of auto, text, json", format))
}
