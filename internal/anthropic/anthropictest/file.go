package anthropictest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
)

// file is one that is kept.
type file struct {
	anthropic.File
	Type string `json:"type"`
	data []byte
}

// AddFile keeps a file as one that was made in a container, and returns its id.
func (s *Server) AddFile(name string, data []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep(name, data, true).ID
}

// Filenames returns the names of the files that are kept.
func (s *Server) Filenames() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kept := range s.files {
		names = append(names, kept.Filename)
	}
	return names
}

func (s *Server) keep(name string, data []byte, downloadable bool) *file {
	made := &file{Type: "file", data: data}
	made.File = anthropic.File{
		ID: s.newID("file"), Filename: name, MIMEType: http.DetectContentType(data), SizeBytes: int64(len(data)),
		CreatedAt: now(), Downloadable: downloadable,
	}
	s.files = slices.Insert(s.files, 0, made)
	return made
}

func (s *Server) createFile(r *http.Request) (any, error) {
	files, err := uploads(r, "file")
	if err != nil {
		return nil, err
	}
	if name := files[0].name; len(files) > 1 || len(name) > 255 || strings.ContainsAny(name, `<>:"|?*\/`) {
		return nil, invalid("file: one file with a name of its own is required")
	}
	return s.keep(files[0].name, files[0].data, false), nil
}

func (s *Server) listFiles(r *http.Request) (any, error) { return page(r, s.files) }

func (s *Server) fileOf(r *http.Request) (int, error) {
	at := slices.IndexFunc(s.files, func(f *file) bool { return f.ID == r.PathValue("file") })
	if at < 0 {
		return 0, notFound("file")
	}
	return at, nil
}

func (s *Server) getFile(r *http.Request) (any, error) {
	at, err := s.fileOf(r)
	if err != nil {
		return nil, err
	}
	return s.files[at], nil
}

func (s *Server) fileContent(r *http.Request) (any, error) {
	at, err := s.fileOf(r)
	if err != nil {
		return nil, err
	}
	if !s.files[at].Downloadable {
		return nil, invalid("the file is not downloadable")
	}
	return s.files[at].data, nil
}

func (s *Server) deleteFile(r *http.Request) (any, error) {
	at, err := s.fileOf(r)
	if err != nil {
		return nil, err
	}
	deleted := s.files[at].ID
	s.files = slices.Delete(s.files, at, at+1)
	return map[string]string{"id": deleted, "type": "file_deleted"}, nil
}
