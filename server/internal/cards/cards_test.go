package cards

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// Documents are read by hosts for each conversation.
const maxDocumentBytes = 64 << 10

// TestDocuments: a document is whole in itself, and its policy has the hashes of its
// only script and its only style.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, resource := range Resources() {
		contents, ok := Contents(resource.URI)
		if !ok {
			t.Fatalf("%s has no contents", resource.URI)
		}
		text := contents.(mcp.TextResourceContents).Text
		if len(text) > maxDocumentBytes {
			t.Errorf("%s has %d bytes", resource.URI, len(text))
		}
		policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]+)">`).FindStringSubmatch(text)
		if policy == nil || strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "http") || !strings.HasPrefix(policy[1], "default-src 'none'; ") {
			t.Fatalf("%s has the policy %q", resource.URI, policy)
		}
		for tag, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
			parts := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(text, -1)
			if len(parts) != 1 || strings.Count(text, "<"+tag) != 1 {
				t.Fatalf("%s has %d of <%s>", resource.URI, len(parts), tag)
			}
			sum := sha256.Sum256([]byte(parts[0][1]))
			if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; !strings.Contains(policy[1], want) {
				t.Errorf("%s has the policy %s, want %s", resource.URI, policy[1], want)
			}
		}
	}
}

// TestContentsOfOthers: only cards have documents, by their whole URIs.
func TestContentsOfOthers(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"", "ui://", "ui://skills-mcp", "ui://skills-mcp/", "ui://skills-mcp/Read", "ui://skills-mcp/read/", "ui://skills-mcp/../read", "ui://other/read", "skill://read", "read"} {
		if _, ok := Contents(uri); ok {
			t.Errorf("%q is a card", uri)
		}
	}
}

// TestScriptsMakeNoMarkup: no script has a way by which a text could become markup,
// code or a link, or leave the card for anybody but its host.
func TestScriptsMakeNoMarkup(t *testing.T) {
	t.Parallel()
	ways := regexp.MustCompile(`(?i)(inner|outer)HTML|insertAdjacent|document\.write|srcdoc|setHTML|DOMParser|createContextualFragment|\beval\b|Function\(|setTimeout|` +
		`\.href|location|\bopen\(|fetch|XMLHttp|WebSocket|import\b|new Worker|cookie|Storage|createElementNS|setAttribute\("(on|style|src|href)|</`)
	names, err := fs.Glob(parts, "*.js")
	if err != nil || len(names) < len(described) {
		t.Fatalf("the scripts are %q: %v", names, err)
	}
	for _, name := range names {
		if found := ways.FindAllString(source(name), -1); len(found) > 0 {
			t.Errorf("%s has %q", name, found)
		}
	}
	if style := source("style.css"); strings.Contains(style, "url(") || strings.Contains(style, "@import") || strings.Contains(style, "</") {
		t.Error("the style loads something")
	}
}
