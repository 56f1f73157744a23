package display

import (
	"net/url"
	"strings"
)

// PathInURI writes a slash-separated path as URIs have it, each segment by itself.
func PathInURI(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/")
}
