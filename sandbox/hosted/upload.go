package hosted

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/transfer"
)

const (
	// maxWorkspaceBytes is what a workspace may hold here, and maxFilesBytes how
	// much of one is sent, which may have become too large and can be tidied up.
	maxWorkspaceBytes = 100 << 20
	maxFilesBytes     = 2 * maxWorkspaceBytes
	// maxKept is how many workspaces are kept with the API for the next run.
	maxKept = 16
	// deleteTimeout bounds what is done once nobody waits any more.
	deleteTimeout = 30 * time.Second
)

// upload is a file that is in the container, by name and digest.
type upload struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// manifest is what is in the container of a skill.
type manifest struct {
	Name  string      `json:"name"`
	Files []skillFile `json:"files"`
}

type skillFile struct {
	Path       string `json:"path"`
	SHA256     string `json:"sha256"`
	Executable bool   `json:"executable"`
}

// manifestOf reads which files a skill has, links left out.
func manifestOf(dir string) (files []skillFile, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, sandbox.MissingDir("skill", err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		files = append(files, skillFile{name, hex.EncodeToString(sum.Sum(nil)), info.Mode().Perm()&0o111 != 0})
		return err
	})
	if err != nil {
		return nil, sandbox.MissingDir("skill", err)
	}
	return files, nil
}

// bounded is a buffer that takes no more than is sent.
type bounded struct{ bytes.Buffer }

var errTooLarge = errors.New("more than is sent")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxFilesBytes {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// pack returns the files of a workspace as they are sent.
func pack(root *os.Root, listed *transfer.Snapshot) ([]byte, error) {
	var packed bounded
	err := listed.Send(&packed, root)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, &sandbox.SetupError{
			Rule:    "workspace-unusable",
			Message: fmt.Sprintf("the workspace holds more than the %d MB that are sent to a hosted container", maxFilesBytes>>20),
			Hint:    "Use a new workspace, or remove what is not needed.",
		}
	case err != nil:
		return nil, sandbox.MissingDir("workspace", err)
	}
	return packed.Bytes(), nil
}

// sent are the files that the API keeps of workspaces, so that one that did not
// change is not uploaded again.
type sent struct {
	api *anthropic.Client
	log *slog.Logger

	mu   sync.Mutex
	kept []keptFile // the one that was used last is the last
}

type keptFile struct {
	upload
	id    string
	users int
}

// take uploads a file, unless the API has it, and returns its id. The caller
// releases it.
func (s *sent) take(ctx context.Context, what upload, data []byte) (id string, release func(), err error) {
	if id, known := s.use(what, ""); known {
		return id, func() { s.release(what) }, nil
	}
	file, err := s.api.UploadFile(ctx, what.Name, data)
	if err != nil {
		return "", nil, err
	}
	if id, _ := s.use(what, file.ID); id != file.ID { // another run was faster
		s.remove(file.ID)
		return id, func() { s.release(what) }, nil
	}
	return file.ID, func() { s.release(what) }, nil
}

// use returns the file that there is, and counts one more user of it. Where there is
// none, it is the new one.
func (s *sent) use(what upload, made string) (id string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, kept := range s.kept {
		if kept.upload == what {
			kept.users++
			s.kept = append(append(s.kept[:i:i], s.kept[i+1:]...), kept)
			return kept.id, true
		}
	}
	if made != "" {
		s.kept = append(s.kept, keptFile{what, made, 1})
	}
	return made, false
}

// release ends a use, and deletes what was not used for longest.
func (s *sent) release(what upload) {
	var removed []string
	s.mu.Lock()
	idle := 0
	for i := len(s.kept) - 1; i >= 0; i-- {
		if s.kept[i].upload == what {
			s.kept[i].users--
		}
		if s.kept[i].users > 0 {
			continue
		}
		if idle++; idle > maxKept {
			removed = append(removed, s.kept[i].id)
			s.kept = append(s.kept[:i:i], s.kept[i+1:]...)
		}
	}
	s.mu.Unlock()
	s.remove(removed...)
}

// remove deletes files, which may be needed by nobody.
func (s *sent) remove(ids ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()
	for _, id := range ids {
		if err := s.api.DeleteFile(ctx, id); err != nil {
			s.log.Warn("a file of a run cannot be deleted from the API", "file", id, "error", err)
		}
	}
}

// close deletes all that is kept.
func (s *sent) close() {
	s.mu.Lock()
	var ids []string
	for _, kept := range s.kept {
		ids = append(ids, kept.id)
	}
	s.kept = nil
	s.mu.Unlock()
	s.remove(ids...)
}

// uploadOf returns how files are named that are sent.
func uploadOf(data []byte) upload {
	sum := sha256.Sum256(data)
	return upload{Name: fmt.Sprintf("skills-mcp-%x.files", sum), SHA256: hex.EncodeToString(sum[:])}
}
