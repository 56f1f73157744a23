package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
)

// newLogger logs to stderr alone: stdout belongs to the protocol. On a
// terminal it is coloured text, else JSON lines.
func newLogger(stderr io.Writer, level, format string) (*slog.Logger, error) {
	var threshold slog.Level
	if err := threshold.UnmarshalText([]byte(level)); err != nil {
		return nil, usageError{fmt.Errorf("--log-level %q is none of debug, info, warn, error", level)}
	}
	terminal := isTerminal(stderr)
	switch {
	case format == "json" || (format == "auto" && !terminal):
		return slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: threshold})), nil
	case format == "text" || format == "auto":
		return slog.New(tint.NewTextHandler(stderr, &tint.Options{Level: threshold, TimeFormat: time.TimeOnly, NoColor: !terminal})), nil
	}
	return nil, usageError{fmt.Errorf("--log-format %q is none of auto, text, json", format)}
}
