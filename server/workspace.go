package server

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// workspaceScheme begins the URI of a file in a workspace:
// workspace://<handle>/<percent-encoded path>.
const workspaceScheme = "workspace://"

// workspaceURI names a file of a workspace.
func workspaceURI(handle, file string) string {
	segments := strings.Split(file, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return workspaceScheme + handle + "/" + strings.Join(segments, "/")
}

// parseWorkspaceURI splits a workspace URI.
func parseWorkspaceURI(uri string) (handle, file string, err error) {
	malformed := failure.New(failure.InvalidPath, "Use the URI exactly as exec gave it.", "%q is not a workspace URI", truncate.After(uri, 120))
	rest, ok := strings.CutPrefix(uri, workspaceScheme)
	if !ok || strings.ContainsAny(rest, "?#") {
		return "", "", malformed
	}
	handle, escaped, _ := strings.Cut(rest, "/")
	if handle == "" {
		return "", "", malformed
	}
	if escaped == "" {
		return handle, ".", nil
	}
	segments := strings.Split(escaped, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || strings.Contains(plain, "/") {
			return "", "", malformed
		}
		segments[i] = plain
	}
	return handle, strings.Join(segments, "/"), nil
}

// openWorkspaceURI opens the workspace of a URI and returns the path in it.
func (s *Server) openWorkspaceURI(uri string) (*contained.Dir, string, error) {
	handle, file, err := parseWorkspaceURI(uri)
	if err != nil {
		return nil, "", err
	}
	if s.opts.Workspaces == nil {
		return nil, "", workspaces.ErrUnknown
	}
	workspace, err := s.opts.Workspaces.Get(handle)
	if err != nil {
		return nil, "", err
	}
	return openWorkspace(workspace, file)
}

// openWorkspace opens a workspace, or its saved outputs where the path is that
// of one, and returns the path in it. What lies in a workspace was made by
// programs of skills, so the tree trusts nothing.
func openWorkspace(workspace workspaces.Workspace, file string) (*contained.Dir, string, error) {
	dir := workspace.Dir
	if name, saved := strings.CutPrefix(file, sandbox.PrivateDir+"/"); saved {
		dir, file = filepath.Join(workspace.Private, sandbox.SavedDir), name
	}
	tree, err := contained.Open(dir, contained.Options{Untrusted: true, Hidden: sandbox.PrivateDir})
	return tree, file, err
}

// savedURI names the file of a saved output.
func savedURI(handle, name string) string { return workspaceURI(handle, sandbox.PrivateDir+"/"+name) }
