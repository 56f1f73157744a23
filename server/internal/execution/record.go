package execution

import (
	"context"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// record notes for the audit log how a run ended.
func record(ctx context.Context, ws workspaces.Workspace, ran ran) {
	result, failed := ran.result, ran.failure()
	request.Note(ctx, func(r *audit.Record) {
		r.Digest, r.Workspace, r.Status = ran.digest, ws.Handle, string(result.Status)
		r.Backend, r.Tier = result.Info.Backend, result.Info.Tier
		if result.Status == sandbox.Exited {
			r.ExitCode = &result.ExitCode
		}
		for _, file := range result.Artifacts {
			r.Artifacts = append(r.Artifacts, audit.File{Path: file.Path, Size: file.Size, Digest: file.Digest})
		}
		r.ArtifactsOmitted = result.ArtifactsOmitted
		r.Granted, r.Changes = ran.shared.Granted(), ran.shared.Record()
		ran.access.Record(r)
		if failed != nil {
			r.Error = string(failed.Code)
		}
	})
}
