package egress

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

const (
	minPlaceholderBytes = 8
	maxPlaceholderBytes = 4096
	// maxBodyBytes is how long a body may be into which a value is put.
	maxBodyBytes = 1 << 20
)

// heldSecret is a secret whose value is there once it was needed.
type heldSecret struct {
	Secret
	mu    sync.Mutex
	value string
}

// holdSecrets checks what a grant says of secrets. Errors name a secret, but
// nothing of it.
func holdSecrets(secrets []Secret) ([]*heldSecret, error) {
	var held []*heldSecret
	for i, secret := range secrets {
		if err := checkPlaceholder(secret.Placeholder); err != nil {
			return nil, fmt.Errorf("secret %s: %w", secret.Name, err)
		}
		if secret.Value == nil {
			return nil, fmt.Errorf("secret %s: it has no source", secret.Name)
		}
		for _, other := range secrets[:i] {
			if strings.Contains(other.Placeholder, secret.Placeholder) || strings.Contains(secret.Placeholder, other.Placeholder) {
				return nil, fmt.Errorf("secrets %s and %s: one placeholder is a part of the other", other.Name, secret.Name)
			}
		}
		held = append(held, &heldSecret{Secret: secret})
	}
	return held, nil
}

func checkPlaceholder(text string) error {
	if len(text) < minPlaceholderBytes || len(text) > maxPlaceholderBytes {
		return fmt.Errorf("a placeholder has from %d to %d bytes", minPlaceholderBytes, maxPlaceholderBytes)
	}
	if !isVisible(text) {
		return errors.New("the placeholder has characters that no header can carry")
	}
	return nil
}

func isVisible(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) < 0 && httpguts.ValidHeaderFieldValue(text)
}

// secretsFor returns the secrets that may go to a host.
func (s *Session) secretsFor(rule hosts.Rule) []*heldSecret {
	var found []*heldSecret
	for _, secret := range s.secrets {
		if hosts.Allow(secret.Hosts, rule) {
			found = append(found, secret)
		}
	}
	return found
}

// hasSecret reports whether TLS to a host has to end at the proxy.
func (s *Session) hasSecret(rule hosts.Rule) bool { return len(s.secretsFor(rule)) > 0 }

// errUnusable is a value that no header can carry, which is not said to programs
// in other words.
var errUnusable = errors.New("egress: the value is empty, or has characters that no header can carry")

// get returns the value, which it has from its source at the first call that
// succeeds.
func (h *heldSecret) get(ctx context.Context) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.value != "" {
		return h.value, nil
	}
	value, err := h.Value(ctx)
	if err != nil {
		return "", err
	}
	if value == "" || !isVisible(value) {
		return "", errUnusable
	}
	h.value = value
	return value, nil
}

// known returns the value if it was ever sent.
func (h *heldSecret) known() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.value
}

// putSecrets puts values in the place of placeholders: into the headers of a
// request, and into its body where that is granted. A URL is none of these, since
// servers keep them in their logs.
func (s *Session) putSecrets(r *http.Request, rule hosts.Rule, exchange *exchange) *refusal {
	if len(exchange.secrets) == 0 {
		return nil
	}
	// What comes back is to be read, for the value is taken out of it again.
	r.Header.Set("Accept-Encoding", "identity")
	for _, secret := range exchange.secrets {
		if err := s.putSecret(r, secret, exchange); err != nil {
			return &refusal{host: rule.Name(), port: rule.Port(), reason: NoSecret, detail: err.Error()}
		}
	}
	return nil
}

// putSecret returns errors that programs may see.
func (s *Session) putSecret(r *http.Request, secret *heldSecret, exchange *exchange) error {
	if strings.Contains(decoded(r.URL.RequestURI()), secret.Placeholder) {
		return fmt.Errorf("the secret %s is sent in headers only, and not in a URL", secret.Name)
	}
	body, inBody, err := secret.findInBody(r)
	if err != nil {
		return err
	}
	if !inBody && !secret.inHeaders(r.Header) {
		return nil
	}
	value, err := secret.get(r.Context())
	if err != nil {
		s.proxy.options.Logger.Warn("the value of a secret cannot be had", "secret", secret.Name, "skill", s.grant.Skill, "unusable", errors.Is(err, errUnusable))
		return fmt.Errorf("the value of the secret %s cannot be had; the user is told why by: skills-mcp grants", secret.Name)
	}
	exchange.echoes = append(exchange.echoes, secret.putInHeaders(r.Header, value)...)
	if inBody {
		secret.putInBody(r, body, value)
	}
	exchange.put = append(exchange.put, secret.Name)
	return nil
}

// countSecrets has the secrets in a request count as sent when there is a
// connection on which it goes out.
func (s *Session) countSecrets(r *http.Request, exchange *exchange) *http.Request {
	if len(exchange.put) == 0 {
		return r
	}
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { s.ledger.useSecrets(exchange.put) },
	}))
}

// decoded returns a URL without escapes, or as it is.
func decoded(uri string) string {
	if text, err := url.PathUnescape(uri); err == nil {
		return text
	}
	return uri
}

func (h *heldSecret) inHeaders(header http.Header) bool {
	for _, values := range header {
		for _, text := range values {
			if _, found := h.put(text, ""); found {
				return true
			}
		}
	}
	return false
}

// putInHeaders returns what hides the value where a server repeats a header in
// which it is encoded.
func (h *heldSecret) putInHeaders(header http.Header, value string) (echoes []pair) {
	for _, values := range header {
		for i, text := range values {
			replaced, found := h.put(text, value)
			if found && !strings.Contains(replaced, value) {
				echoes = append(echoes, pair{old: afterSpace(replaced), new: afterSpace(text)})
			}
			values[i] = replaced
		}
	}
	return echoes
}

// afterSpace returns the credentials of an Authorization header.
func afterSpace(text string) []byte {
	_, credentials, _ := strings.Cut(text, " ")
	return []byte(strings.TrimSpace(credentials))
}

// put returns a header's text with the value in the place of the placeholder, also
// where that is the user or password of "Basic".
func (h *heldSecret) put(text, value string) (replaced string, found bool) {
	if strings.Contains(text, h.Placeholder) {
		return strings.ReplaceAll(text, h.Placeholder, value), true
	}
	credentials, ok := basicCredentials(text)
	if !ok || !strings.Contains(credentials, h.Placeholder) {
		return text, false
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(credentials, h.Placeholder, value))), true
}

// basicCredentials returns user and password of an Authorization header.
func basicCredentials(text string) (string, bool) {
	scheme, encoded, found := strings.Cut(text, " ")
	if !found || !strings.EqualFold(scheme, "Basic") {
		return "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	return string(decoded), err == nil
}

// findInBody returns the body of a request if it holds the placeholder, which is
// looked for where the grant says so. The body stays to be read.
func (h *heldSecret) findInBody(r *http.Request) (body []byte, found bool, err error) {
	if !h.Body || r.Body == nil || r.Body == http.NoBody {
		return nil, false, nil
	}
	rest := r.Body
	body, err = io.ReadAll(io.LimitReader(rest, maxBodyBytes+1))
	if err != nil {
		return nil, false, errors.New("the body of the request was not received")
	}
	r.Body = &joinedBody{Reader: io.MultiReader(bytes.NewReader(body), rest), Closer: rest}
	found = bytes.Contains(body, []byte(encoderFor(r.Header)(h.Placeholder)))
	if found && len(body) > maxBodyBytes {
		return nil, false, fmt.Errorf("the secret %s is sent in bodies of up to %d bytes, and this one is longer", h.Name, maxBodyBytes)
	}
	return body, found, nil
}

// joinedBody is a body of which a part was read.
type joinedBody struct {
	io.Reader
	io.Closer
}

func (h *heldSecret) putInBody(r *http.Request, body []byte, value string) {
	encode := encoderFor(r.Header)
	body = bytes.ReplaceAll(body, []byte(encode(h.Placeholder)), []byte(encode(value)))
	r.Body = &joinedBody{Reader: bytes.NewReader(body), Closer: r.Body}
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
}

// encoderFor returns how text is written in a body.
func encoderFor(header http.Header) func(string) string {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return inJSON
	case kind == "application/x-www-form-urlencoded":
		return url.QueryEscape
	default:
		return func(text string) string { return text }
	}
}

// inJSON returns text as it is inside of a string of JSON.
func inJSON(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(encoded[1 : len(encoded)-1])
}
