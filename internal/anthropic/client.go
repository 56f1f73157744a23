// Package anthropic is a client of what the Claude API has for hosted skills: the
// Skills API, the Files API, and the Messages API as far as it runs programs in a
// container. All three are generally available since 2026-08-20.
package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const (
	// DefaultBaseURL is where the API is.
	DefaultBaseURL = "https://api.anthropic.com"
	// Version is the version of the API, as each request names it.
	Version = "2023-06-01"
)

// Bounds of one request.
const (
	maxAnswerBytes = 64 << 20         // of an answer that is JSON
	maxErrorBytes  = 64 << 10         // of one that reports an error
	answerTimeout  = 15 * time.Minute // a program may run in the meantime
)

// Options are what a [Client] is made of.
type Options struct {
	// BaseURL is where the API is, without its version. It is https, but for
	// loopback. If empty, it is [DefaultBaseURL].
	BaseURL string
	// Key returns the API key. It is called for each request, and its value goes
	// to BaseURL alone. Required.
	Key func(context.Context) (string, error)
	// Retries is how often a request is made again after one that failed and may
	// be made again. If 0, it is 3; if negative, there are none.
	Retries int
	// Transport makes requests. If nil, it is [http.DefaultTransport], and so
	// goes by the proxies that the environment names.
	Transport http.RoundTripper
}

// Client makes requests. It can be used by several goroutines.
type Client struct {
	base    *url.URL
	key     func(context.Context) (string, error)
	retries int
	http    *http.Client
}

// New returns a client. The error says what is wrong with the base URL.
func New(opts Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(cmp.Or(opts.BaseURL, DefaultBaseURL), "/"))
	switch {
	case err != nil:
		return nil, errors.New("the base URL is none")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "" || base.Host == "":
		return nil, fmt.Errorf("the base URL %s is not one such as %s", base.Redacted(), DefaultBaseURL)
	case base.Scheme != "https" && !(base.Scheme == "http" && isLoopback(base.Hostname())):
		return nil, fmt.Errorf("the base URL %s would send the key unencrypted; write https", base)
	}
	return &Client{
		base: base, key: opts.Key, retries: max(0, cmp.Or(opts.Retries, 3)),
		http: &http.Client{
			Transport: opts.Transport, Timeout: answerTimeout,
			// The key is for no other place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// BaseURL is where the API is.
func (c *Client) BaseURL() string { return c.base.String() }

// CheckKey reports that there is no key. It asks nothing of the API.
func (c *Client) CheckKey(ctx context.Context) error {
	if _, err := c.key(ctx); err != nil {
		return &keyError{err}
	}
	return nil
}

// call is one request, which may be made several times.
type call struct {
	method string
	path   []string // segments, not escaped
	query  url.Values
	header http.Header
	body   []byte
	// once reports that it is not made again where the API may have done it.
	once bool
}

// get returns a request for something.
func get(query url.Values, path ...string) call {
	return call{method: http.MethodGet, path: path, query: query}
}

// do makes a request, again where that may help, and decodes the answer.
func (c *Client) do(ctx context.Context, request call, into any) error {
	return c.stream(ctx, request, func(body io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(body, maxAnswerBytes+1))
		switch {
		case err != nil:
			return fmt.Errorf("the answer ends early: %w", err)
		case len(text) > maxAnswerBytes:
			return fmt.Errorf("the answer has more than %d bytes", maxAnswerBytes)
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("the answer is not what is documented: %w", err)
		}
		return nil
	})
}

// stream makes a request, again where that may help, and has the body of a
// successful answer read, once.
func (c *Client) stream(ctx context.Context, request call, read func(io.Reader) error) error {
	for attempt := 0; ; attempt++ {
		response, err := c.send(ctx, request)
		if err == nil && response.StatusCode/100 == 2 {
			defer response.Body.Close()
			return read(response.Body)
		}
		var wait time.Duration
		if err == nil {
			wait = asked(response.Header)
			err = failed(response)
		}
		if attempt == c.retries || ctx.Err() != nil || !again(err, request.once) {
			return err
		}
		if err := pause(ctx, cmp.Or(wait, backoff(attempt))); err != nil {
			return err
		}
	}
}

// send makes a request once.
func (c *Client) send(ctx context.Context, request call) (*http.Response, error) {
	key, err := c.key(ctx)
	if err != nil {
		return nil, &keyError{err}
	}
	at := c.base.JoinPath("v1").JoinPath(escaped(request.path)...)
	at.RawQuery = request.query.Encode()
	r, err := http.NewRequestWithContext(ctx, request.method, at.String(), bytes.NewReader(request.body))
	if err != nil {
		return nil, err
	}
	for name, values := range request.header {
		r.Header[name] = values
	}
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("Anthropic-Version", Version)
	r.Header.Set("User-Agent", "skills-mcp")
	response, err := c.http.Do(r)
	if err != nil {
		return nil, &transportError{err}
	}
	return response, nil
}

// escaped keeps an id from being more than one segment of a path.
func escaped(segments []string) []string {
	all := make([]string, len(segments))
	for i, segment := range segments {
		if all[i] = url.PathEscape(segment); segment == "." || segment == ".." {
			all[i] = strings.ReplaceAll(segment, ".", "%2E")
		}
	}
	return all
}
