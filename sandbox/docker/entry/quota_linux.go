//go:build amd64 || arm64

package main

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// measureInterval is the time between two looks at what the workspace holds.
const measureInterval = 50 * time.Millisecond

// quota bounds what a workspace holds that is a file system of its own: the
// kernel counts, removed files that are open included.
type quota struct{ bytes, files uint64 }

// newQuota gives the quota of an order; one without fields where files are
// not copied.
func newQuota(order handover.Order) quota {
	if !order.Files || order.WorkspaceBytes == 0 {
		return quota{}
	}
	bytes, files := workspaceUsage()
	return quota{max(order.WorkspaceBytes, bytes), max(order.WorkspaceFiles, files)}
}

// interval gives a channel that tells when to look; nil for no quota.
func (q quota) interval() <-chan time.Time {
	if q == (quota{}) {
		return nil
	}
	return time.After(measureInterval)
}

func (q quota) exceeded() bool {
	bytes, files := workspaceUsage()
	return bytes > q.bytes || files > q.files
}

func workspaceUsage() (bytes, files uint64) {
	var fs unix.Statfs_t
	if unix.Statfs(handover.Workspace, &fs) != nil || fs.Bsize <= 0 {
		return 0, 0
	}
	return (fs.Blocks - fs.Bfree) * uint64(fs.Bsize), fs.Files - fs.Ffree
}
