package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// statusOverloaded is what the API answers with while it is overloaded.
const statusOverloaded = 529

// Error is an answer of the API that refuses a request.
type Error struct {
	// Status is that of HTTP, such as 429.
	Status int
	// Type is the API's name of the error, such as "rate_limit_error".
	Type string
	// Message is the API's own text.
	Message string
	// RequestID names the request to the support of the API; it may be empty.
	RequestID string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("the API answers with %d, %s: %s", e.Status, e.Type, e.Message)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Hint says what the user can do about an error of this package, or nothing.
func Hint(err error) string {
	var refused *Error
	var key *keyError
	var transport *transportError
	switch {
	case errors.As(err, &key):
		return "Set ANTHROPIC_API_KEY, or hosted.key in the configuration."
	case errors.As(err, &transport):
		return "Look whether the API can be reached from here, and whether ANTHROPIC_BASE_URL or hosted.baseUrl is meant."
	case !errors.As(err, &refused):
		return ""
	}
	switch refused.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "Look whether the API key is right, and whether its workspace may use skills."
	case http.StatusNotFound:
		return "It may have been deleted meanwhile, or belong to another workspace than the key."
	case http.StatusRequestEntityTooLarge:
		return "An upload may have 30 MB at most: leave out what programs do not need."
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return "It was tried several times. Try again later."
	}
	return ""
}

// keyError is a key that there is not.
type keyError struct{ err error }

func (e *keyError) Error() string { return "there is no API key: " + e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

// transportError is a request without an answer.
type transportError struct{ err error }

func (e *transportError) Error() string { return "the API gives no answer: " + e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

// failed returns the error of an answer, and closes that.
func failed(response *http.Response) error {
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes)) // an answer that ends early says less
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Type == "" {
		body.Error.Type, body.Error.Message = "no error of the API", strings.ToValidUTF8(string(text[:min(len(text), 200)]), "�")
	}
	return &Error{
		Status: response.StatusCode, Type: body.Error.Type, Message: body.Error.Message,
		RequestID: cmp.Or(response.Header.Get("Request-Id"), body.RequestID),
	}
}
