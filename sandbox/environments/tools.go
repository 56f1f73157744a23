package environments

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// FindUV returns the path of the program uv on this machine: on the PATH, else
// where its installers put it. It is empty where there is none.
func FindUV() string {
	if found, err := exec.LookPath("uv"); err == nil {
		if absolute, err := filepath.Abs(found); err == nil {
			return absolute
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	for _, dir := range []string{".local/bin", ".cargo/bin"} {
		if found, err := exec.LookPath(filepath.Join(home, dir, "uv")); err == nil {
			return found
		}
	}
	return ""
}

// maxToolBytes bounds the program uv.
const maxToolBytes = 1 << 30

// keepTool copies the program uv to where runs can be shown it, and returns its
// digest.
func (s *Store) keepTool(name string) (digest string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoUV, err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(file, maxToolBytes))
	if err != nil {
		return "", err
	}
	digest = hex.EncodeToString(sum.Sum(nil))
	kept := filepath.Join(s.Dir, toolsDir, digest)
	if info, err := os.Stat(filepath.Join(kept, "uv")); err == nil && info.Size() == size {
		return digest, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	err = s.place(filepath.Join(toolsDir, digest), func(path string) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		return writeCopy(filepath.Join(path, "uv"), file, size, 0o755)
	})
	if errors.Is(err, fs.ErrExist) {
		err = nil // another one was faster
	}
	return digest, err
}
