package main

import (
	"fmt"
	"log/slog"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/config"
)

// auditDir returns the directory of the audit log, or nothing where there is to
// be none.
func (s *settings) auditDir() (string, error) {
	switch s.Audit.Dir {
	case config.Off:
		return "", nil
	case config.Auto:
		dir, err := audit.DefaultDir()
		if err != nil {
			return "", fmt.Errorf("there is no directory for the audit log (%w); name one with --audit=DIR, or use --audit=off", err)
		}
		return dir, nil
	}
	return expandHome(s.Audit.Dir)
}

// openAudit opens the audit log, or returns nil where there is to be none.
func (s *settings) openAudit(log *slog.Logger) (*audit.Log, error) {
	if s.unrecorded {
		return nil, nil
	}
	dir, err := s.auditDir()
	if dir == "" || err != nil {
		return nil, err
	}
	opened, err := audit.Open(audit.Options{
		Dir: dir, MaxBytes: s.Audit.MaxSize, MaxFiles: s.Audit.MaxFiles, OnFailure: audit.OnFailure(s.Audit.Failure), Logger: log,
	})
	if err != nil {
		return nil, fmt.Errorf("%w; name another directory with --audit=DIR, or use --audit=off", err)
	}
	return opened, nil
}
