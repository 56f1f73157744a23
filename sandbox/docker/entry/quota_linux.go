//go:build amd64 || arm64

package main

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// measureInterval is the time between two looks at what the workspace holds.
const measureInterval = 50 * time.Millisecond

// quota bounds what a workspace holds that is a file system of its own: the
// kernel counts, removed files that are open included.
type quota struct{ bytes, files uint64 }

// newQuota gives the quota of an order; one without fields where files are
// not copied.
func newQuota(order protocol.Order) quota {
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

// workspaceUsage adds up the two file systems.
func workspaceUsage() (bytes, files uint64) {
	for _, dir := range []string{protocol.Workspace, protocol.Private} {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) == nil && fs.Bsize > 0 {
			bytes += (fs.Blocks - fs.Bfree) * uint64(fs.Bsize)
			files += fs.Files - fs.Ffree
		}
	}
	return bytes, files
}
