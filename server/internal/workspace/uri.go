package workspace

import (
	"net/url"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Scheme begins the URI of a file in a workspace:
// workspace://<handle>/<percent-encoded path>.
const Scheme = "workspace://"

// URI names a file of a workspace.
func URI(handle, file string) string { return Scheme + handle + "/" + display.PathInURI(file) }

// ParseURI splits a workspace URI.
func ParseURI(uri string) (handle, file string, err error) {
	malformed := failure.New(failure.InvalidPath, "Use the URI exactly as exec gave it.", "%q is not a workspace URI", truncate.After(uri, 120))
	rest, ok := strings.CutPrefix(uri, Scheme)
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

// SavedURI names the file of a saved output.
func SavedURI(handle, name string) string { return URI(handle, sandbox.PrivateDir+"/"+name) }
