package settings

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/statedir"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/config"
)

// AuditDir returns the directory of the audit log, or nothing where there is to
// be none.
func (s *Settings) AuditDir() (string, error) {
	switch s.Audit.Dir {
	case config.Off:
		return "", nil
	case config.Auto:
		dir, err := statedir.Path("audit")
		if err != nil {
			return "", fmt.Errorf("there is no directory for the audit log (%w); name one with --audit=DIR, or use --audit=off", err)
		}
		return dir, nil
	}
	return ExpandHome(s.Audit.Dir)
}

// Recorded has the audit log record what a command does to the user's files,
// before and after it is done. Where it cannot be recorded it is not done. do
// adds to the record.
func (s *Settings) Recorded(stderr io.Writer, record audit.Record, do func(*audit.Record) error) error {
	opened, err := s.openAuditFor(stderr)
	if err != nil {
		return err
	}
	if opened == nil {
		return do(&record)
	}
	defer opened.Close()
	began := time.Now()
	record.Time, record.Caller = began, "cli"
	entry, err := opened.Begin(record)
	if err != nil {
		return err
	}
	err = do(&record)
	record.Outcome = outcomeOf(err)
	record.DurationMs = float64(time.Since(began).Microseconds()) / 1000
	return errors.Join(err, entry.End(record))
}

// RecordedAfter records what a command has done that is not to wait for a log
// that cannot be written, and adds to its error.
func (s *Settings) RecordedAfter(stderr io.Writer, record audit.Record, done error) error {
	opened, err := s.openAuditFor(stderr)
	if opened == nil {
		return errors.Join(done, err)
	}
	defer opened.Close()
	record.Caller, record.Outcome = "cli", outcomeOf(done)
	return errors.Join(done, opened.Append(record))
}

func outcomeOf(err error) audit.Outcome {
	if err != nil {
		return audit.Failed
	}
	return audit.OK
}

// openAuditFor opens the audit log for a command, which may have read the
// configuration.
func (s *Settings) openAuditFor(stderr io.Writer) (*audit.Log, error) {
	if s.Effective == nil {
		s.Quiet, s.Anywhere = true, true
		if err := s.Read(nil); err != nil {
			return nil, err
		}
	}
	log, err := s.Logger(stderr)
	if err != nil {
		return nil, err
	}
	return s.OpenAudit(log)
}

// OpenAudit opens the audit log, or returns nil where there is to be none.
func (s *Settings) OpenAudit(log *slog.Logger) (*audit.Log, error) {
	if s.Unrecorded {
		return nil, nil
	}
	dir, err := s.AuditDir()
	if dir == "" || err != nil {
		return nil, err
	}
	opened, err := audit.Open(audit.Options{
		Dir: dir, MaxBytes: s.Audit.MaxSize, MaxFiles: s.Audit.MaxFiles, OnFailure: audit.OnFailure(s.Audit.Failure),
		Redact: s.Redact.String, Logger: log,
	})
	if err != nil {
		return nil, fmt.Errorf("%w; name another directory with --audit=DIR, or use --audit=off", err)
	}
	return opened, nil
}
