package shares

import (
	"net/url"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Scheme begins the URI of a change set, changes://<id>, whose content is a
// unified diff, and of the new content of a file in it:
// changes://<id>/<percent-encoded path>.
const Scheme = "changes://"

// uriOf names a change set, or a file of it where the path is not empty.
func uriOf(id, path string) string {
	if path == "" {
		return Scheme + id
	}
	return Scheme + id + "/" + display.PathInURI(path)
}

// parseURI splits a URI of a change set.
func parseURI(uri string) (id, path string, err error) {
	malformed := failure.New(failure.InvalidPath, "Use the URI exactly as the result gave it.", "%q is not the URI of a change set", truncate.After(uri, 120))
	rest, ok := strings.CutPrefix(uri, Scheme)
	if !ok || strings.ContainsAny(rest, "?#") {
		return "", "", malformed
	}
	id, escaped, _ := strings.Cut(rest, "/")
	path, unescapeErr := url.PathUnescape(escaped)
	if id == "" || unescapeErr != nil {
		return "", "", malformed
	}
	return id, path, nil
}
