package main

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// The values of --audit that are no directory.
const (
	auditAuto = "auto"
	auditOff  = "off"
)

// auditDir returns the directory of the audit log, or nothing where there is to
// be none.
func (s *settings) auditDir() (string, error) {
	switch s.audit {
	case auditOff:
		return "", nil
	case auditAuto:
		dir, err := audit.DefaultDir()
		if err != nil {
			return "", fmt.Errorf("there is no directory for the audit log (%w); name one with --audit=DIR, or use --audit=off", err)
		}
		return dir, nil
	case "":
		return "", usageError{fmt.Errorf("--audit is empty; name a directory, or use --audit=off")}
	}
	return filepath.Abs(s.audit)
}

// openAudit opens the audit log, or returns nil where there is to be none.
func (s *settings) openAudit(log *slog.Logger) (*audit.Log, error) {
	dir, err := s.auditDir()
	if dir == "" || err != nil {
		return nil, err
	}
	opened, err := audit.Open(audit.Options{Dir: dir, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("%w; name another directory with --audit=DIR, or use --audit=off", err)
	}
	return opened, nil
}
