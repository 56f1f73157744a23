package egress

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// refusal is why something is not let through. As an error it is told to
// programs; its cause is for the log.
type refusal struct {
	host   string // as the program sent it
	port   int
	reason Reason
	detail string // of a sentence: "skills-mcp refused HOST: DETAIL"
	// wanted is what would have to be granted, if anything would help.
	wanted hosts.Rule
	skill  string
	cause  error
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("skills-mcp refused %s: %s", r.target(), r.detail)
	if command := r.command(); command != "" {
		text += "; the user grants it with: " + command
	}
	return text
}

func (r *refusal) Unwrap() error { return r.cause }

// maxShownHost is how much is shown of what is no name.
const maxShownHost = 80

// shownHost returns what a program sent as a host, if need be without what no
// name has.
func shownHost(host string) string {
	if _, err := hosts.New(hosts.HTTPS, host, 1); err == nil {
		return strings.ToLower(host)
	}
	return strings.Trim(strconv.QuoteToASCII(truncate.To(host, maxShownHost)), `"`)
}

func (r *refusal) target() string {
	switch {
	case r.host == "":
		return "the connection"
	case r.port == 0:
		return shownHost(r.host)
	default:
		return net.JoinHostPort(shownHost(r.host), strconv.Itoa(r.port))
	}
}

// command is what the user would have to run, or empty.
func (r *refusal) command() string {
	if r.wanted == (hosts.Rule{}) {
		return ""
	}
	return fmt.Sprintf("skills-mcp grant %s --host %s", shellword.Name(r.skill), r.wanted)
}

func (r *refusal) status() int {
	switch r.reason {
	case BadRequest:
		return http.StatusBadRequest
	case WrongName:
		return http.StatusMisdirectedRequest
	case Unreachable:
		return http.StatusBadGateway
	case TooMuch:
		return http.StatusTooManyRequests
	default:
		return http.StatusForbidden
	}
}

// response is the answer to a request. Many clients show its status line alone, so
// that this says everything.
func (r *refusal) response(request *http.Request) *http.Response {
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", r.status(), r.Error()),
		StatusCode: r.status(),
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        r.header(),
		Body:          io.NopCloser(strings.NewReader(r.text())),
		ContentLength: int64(len(r.text())),
		Request:       request,
		Close:         true,
	}
}

func (r *refusal) text() string { return r.Error() + "\n" }

func (r *refusal) header() http.Header {
	return http.Header{
		"Content-Type": {"text/plain; charset=utf-8"},
		"Proxy-Status": {fmt.Sprintf("skills-mcp; error=http_request_denied; details=%q", r.reason)},
	}
}

// send writes the answer to a connection.
func (r *refusal) send(w io.Writer) {
	response := r.response(nil)
	defer response.Body.Close()
	_ = response.Write(w)
}

// write is the answer where the library does not give it.
func (r *refusal) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.header())
	w.WriteHeader(r.status())
	_, _ = io.WriteString(w, r.text())
}
