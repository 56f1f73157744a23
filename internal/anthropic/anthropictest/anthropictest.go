// Package anthropictest is a stand-in for the Claude API, which answers as that is
// documented to: skills and their versions, files, pages, refusals, and messages of
// a model that tests say how to behave, whose commands really run.
package anthropictest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// Key is the API key that a [Server] takes.
const Key = "sk-ant-api03-of-the-stand-in"

// pageSize is how many a page of a list has, unless a request asks for fewer.
const pageSize = 2

// Server is a stand-in on loopback.
type Server struct {
	// URL is its base URL.
	URL string

	ctx context.Context // ends with the server

	mu         sync.Mutex
	dir        *tempdir.Dir // of containers; nil before the first
	model      Model
	tamper     func(name string, data []byte) []byte
	containers []*container
	skills     []*skill
	files      []*file
	refusals   []refusal
	requests   []string
	made       int // ids
}

// refusal is what the next request is answered with.
type refusal struct {
	path   string // of the requests that it is for; all where it is empty
	status int
	kind   string
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s, stop := Start()
	t.Cleanup(stop)
	return s
}

// Start starts a server that ends with stop.
func Start() (s *Server, stop func()) {
	s = &Server{model: Obedient}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	for pattern, handle := range s.endpoints() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, handle) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func(*http.Request) (any, error) { return nil, notFound("endpoint") })
	})
	web := httptest.NewServer(mux)
	s.URL = web.URL
	return s, func() {
		cancel()
		web.Close()
		if s.dir != nil {
			_ = s.dir.Close() // what is left is removed when the next one is made
		}
	}
}

func (s *Server) endpoints() map[string]func(*http.Request) (any, error) {
	locked := map[string]func(*http.Request) (any, error){
		"POST /v1/skills":                         s.createSkill,
		"GET /v1/skills":                          s.listSkills,
		"GET /v1/skills/{skill}":                  s.getSkill,
		"DELETE /v1/skills/{skill}":               s.deleteSkill,
		"POST /v1/skills/{skill}/versions":        s.createVersion,
		"GET /v1/skills/{skill}/versions":         s.listVersions,
		"GET /v1/skills/{skill}/versions/{id}":    s.getVersion,
		"DELETE /v1/skills/{skill}/versions/{id}": s.deleteVersion,
		"POST /v1/files":                          s.createFile,
		"GET /v1/files":                           s.listFiles,
		"GET /v1/files/{file}":                    s.getFile,
		"GET /v1/files/{file}/content":            s.fileContent,
		"DELETE /v1/files/{file}":                 s.deleteFile,
	}
	for pattern, handle := range locked {
		locked[pattern] = func(r *http.Request) (any, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return handle(r)
		}
	}
	locked["POST /v1/messages"] = s.createMessage // in which others may make requests
	return locked
}

// Refuse has the next requests be refused, each with one of the refusals: a status
// and the type of the error. They ask for a pause of a millisecond.
func (s *Server) Refuse(times, status int, kind string) { s.refuse("", times, status, kind) }

// RefuseMessages is Refuse for messages alone.
func (s *Server) RefuseMessages(times, status int, kind string) {
	s.refuse("/v1/messages", times, status, kind)
}

func (s *Server) refuse(path string, times, status int, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range times {
		s.refusals = append(s.refusals, refusal{path, status, kind})
	}
}

// Requests returns what was asked for, as "GET /v1/skills", and forgets it.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.requests = nil }()
	return s.requests
}

// apiError is a refusal that a handler returns.
type apiError struct {
	status  int
	kind    string
	message string
}

func (e *apiError) Error() string { return e.message }

func invalid(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...)}
}

func notFound(what string) error {
	return &apiError{http.StatusNotFound, "not_found_error", what + " not found"}
}

// serve does what every endpoint does.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, handle func(*http.Request) (any, error)) {
	answer := any(nil)
	id, err := s.admit(w, r)
	if err == nil {
		answer, err = handle(r)
	}
	if content, ok := answer.([]byte); ok && err == nil {
		_, _ = w.Write(content)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		refused, ok := errors.AsType[*apiError](err)
		if !ok {
			refused = &apiError{http.StatusInternalServerError, "api_error", "the stand-in failed: " + err.Error()}
		}
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(refused.status)
		answer = map[string]any{"type": "error", "request_id": id, "error": map[string]string{"type": refused.kind, "message": refused.message}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// admit refuses requests that are to be refused, and returns the request's id.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	id = fmt.Sprintf("req_%06d", s.made)
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	w.Header().Set("Request-Id", id)
	at := slices.IndexFunc(s.refusals, func(c refusal) bool { return c.path == "" || c.path == r.URL.Path })
	if err := wellFormed(r); err != nil || at < 0 {
		return id, err
	}
	refused := s.refusals[at]
	s.refusals = slices.Delete(s.refusals, at, at+1)
	return id, &apiError{refused.status, refused.kind, "refused as asked for"}
}

// wellFormed refuses requests without what each has to have.
func wellFormed(r *http.Request) error {
	switch {
	case r.Header.Get("X-Api-Key") != Key:
		return &apiError{http.StatusUnauthorized, "authentication_error", "invalid x-api-key"}
	case r.Header.Get("Anthropic-Version") != anthropic.Version:
		return invalid("anthropic-version: header is required")
	case r.Header.Get("Anthropic-Beta") != "":
		return invalid("anthropic-beta: no beta is needed")
	}
	return nil
}

// newID returns an id that begins with what it is one of.
func (s *Server) newID(prefix string) string {
	s.made++
	return fmt.Sprintf("%s_01%022d", prefix, s.made)
}

// page returns the page of a list that is asked for.
func page[T any](r *http.Request, all []T) (any, error) {
	from, size := 0, pageSize
	if token := r.URL.Query().Get("page"); token != "" {
		number, ok := strings.CutPrefix(token, "page_")
		at, err := strconv.Atoi(number)
		if !ok || err != nil || at > len(all) {
			return nil, invalid("page: no page of this list")
		}
		from = at
	}
	to, next := min(from+size, len(all)), any(nil)
	if to < len(all) {
		next = fmt.Sprintf("page_%d", to)
	}
	return map[string]any{"data": slices.Concat([]T{}, all[from:to]), "next_page": next}, nil
}

// upload is one file of a form.
type upload struct {
	name string
	data []byte
}

// uploads returns the files of a form's field.
func uploads(r *http.Request, field string) (all []upload, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, invalid("a form is required")
	}
	total := 0
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, invalid("the form ends early")
		}
		data, err := io.ReadAll(part)
		if err != nil || part.FormName() != field {
			return nil, invalid("%s: extra inputs are not permitted", part.FormName())
		}
		// FileName leaves out the directories.
		_, quoted, _ := strings.Cut(part.Header.Get("Content-Disposition"), `filename="`)
		all = append(all, upload{strings.TrimSuffix(quoted, `"`), data})
		if total += len(data); total > anthropic.MaxUploadBytes {
			return nil, &apiError{http.StatusRequestEntityTooLarge, "request_too_large", "the upload is too large"}
		}
	}
	if len(all) == 0 {
		return nil, invalid("%s: field required", field)
	}
	return all, nil
}

func now() time.Time { return time.Now().UTC() }
