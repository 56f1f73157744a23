package access

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// trust is the file of certificates that programs with secrets are to trust,
// which is made when the first of them is run.
type trust struct {
	mu  sync.Mutex
	dir *tempdir.Dir
}

// file returns its path.
func (t *trust) file(proxy *egress.Proxy) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const name = "certificates.pem"
	if t.dir != nil {
		return filepath.Join(t.dir.Path(), name), nil
	}
	bundle, err := proxy.Bundle()
	if err != nil {
		return "", err
	}
	dir, err := tempdir.New("", "skills-mcp-trust-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir.Path(), name)
	// Programs read it as another user.
	if err = os.WriteFile(path, bundle, 0o444); err == nil {
		err = os.Chmod(path, 0o444)
	}
	if err != nil {
		_ = dir.Close()
		return "", err
	}
	t.dir = dir
	return path, nil
}

// remove removes the file.
func (t *trust) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == nil {
		return nil
	}
	dir := t.dir
	t.dir = nil
	return dir.Close()
}
