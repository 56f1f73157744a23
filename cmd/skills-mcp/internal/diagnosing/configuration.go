package diagnosing

import (
	"cmp"
	"log/slog"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
)

// Configuration looks at what is read, and reports whether it could be.
func (r *Report) Configuration(s *settings.Settings, roots []string) bool {
	if err := s.Read(roots); err != nil {
		r.add("config", Error, "correct it; 'skills-mcp config' shows what is in force, docs/configuration.md what may be", "%v", err)
		return false
	}
	r.add("config", OK, "", "%s", cmp.Or(s.File, "no file, so the defaults"))
	for _, warning := range s.Warnings {
		r.add("config", Warning, "", "%s", warning)
	}
	if err := s.ProjectFault(); err != nil {
		r.add("config", Error, "correct or remove the file", "%v", err)
	}
	return true
}

// Audit looks at whether calls can be recorded.
func (r *Report) Audit(s *settings.Settings, log *slog.Logger) {
	dir, err := s.AuditDir()
	if err == nil && dir == "" {
		r.add("audit", OK, "", "off")
		return
	}
	opened, err := s.OpenAudit(log)
	if err == nil {
		err = opened.Close()
	}
	if err != nil {
		r.add("audit", Error, "give the directory back to your user, name another one with --audit=DIR, or use --audit=off", "%v", err)
		return
	}
	r.add("audit", OK, "", "%s", dir)
}
