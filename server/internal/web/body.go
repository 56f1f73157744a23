package web

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// What the bodies of requests may cost.
const (
	// bodyTimeout is how long a body may take to arrive.
	bodyTimeout = 60 * time.Second
	// bodyStall is how long nothing of it may come.
	bodyStall = 10 * time.Second
	// firstBytes is what is taken for a body before any of it has come, at most.
	firstBytes = 4 << 10
	// smallBodyBytes is what every request may hold at any time.
	smallBodyBytes = 64 << 10
	// largeBodyBytes bounds what all requests hold together beyond that,
	// until they are answered.
	largeBodyBytes = 64 << 20
)

var errTooManyBodies = errors.New("too many long messages at once")

// readMessage reads the body of a request and what it says of itself, or
// answers what is no message. A request without a body has an empty one.
// release is to be called when the request is over.
func readMessage(bodies *budget, w http.ResponseWriter, r *http.Request) (head jsonrpc.Message, body []byte, release func(), ok bool) {
	held := &share{of: bodies}
	body, err := collect(w, r, held)
	if err != nil {
		refuseBody(w, err)
	} else if r.Method != http.MethodPost {
		return head, body, held.release, true
	} else if parsed, wrong := jsonrpc.Parse(body); wrong != nil {
		refuse(w, http.StatusBadRequest, wrong.Code, wrong.Message)
	} else {
		return parsed, body, held.release, true
	}
	held.release()
	return head, nil, nil, false
}

// collect reads a body as it comes, and takes memory only for what has come.
func collect(w http.ResponseWriter, r *http.Request, held *share) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	control := http.NewResponseController(w)
	// The connection's reader goes on after the body, to see its end.
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	end := time.Now().Add(bodyTimeout)
	limited := http.MaxBytesReader(w, r.Body, jsonrpc.MaxMessageBytes)
	first := int64(firstBytes)
	if stated := r.ContentLength; 0 < stated && stated < first {
		first = stated + 1 // the end shows where there is room left
	}
	body := make([]byte, 0, first)
	for {
		if len(body) == cap(body) {
			room := min(2*cap(body), jsonrpc.MaxMessageBytes+1)
			if beyond := int64(room - smallBodyBytes); beyond > held.held && !held.raise("", beyond) {
				return nil, errTooManyBodies
			}
			body = append(make([]byte, 0, room), body...)
		}
		if next := time.Now().Add(bodyStall); next.Before(end) {
			_ = control.SetReadDeadline(next)
		} else {
			_ = control.SetReadDeadline(end)
		}
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// refuseBody answers a request whose body was not read to its end.
func refuseBody(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close") // rather than wait for the rest of it
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		refuse(w, http.StatusRequestEntityTooLarge, mcp.INVALID_REQUEST, "the message is longer than 16 MiB")
	case errors.Is(err, errTooManyBodies):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, "too many long messages are being served; try again in a moment")
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, mcp.INVALID_REQUEST, "the message did not arrive in time")
	default:
		refuse(w, http.StatusBadRequest, mcp.PARSE_ERROR, "the body cannot be read")
	}
}
