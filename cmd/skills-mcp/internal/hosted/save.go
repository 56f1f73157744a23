package hosted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxDownloadBytes is how long a file may be that is downloaded.
const maxDownloadBytes = 1 << 30

// Save downloads a file to a path where nothing is yet, or where that is empty to
// the file's own name in the working directory, and returns the path. Where the
// download fails, nothing is left of it.
func (h *Host) Save(ctx context.Context, id, to string) (path string, err error) {
	if to == "" {
		file, err := h.File(ctx, id)
		if err != nil {
			return "", err
		}
		// The name was chosen by a program or a model.
		if to = file.Filename; to == "" || filepath.Base(to) != to || strings.ContainsAny(to, `/\:`) || strings.HasPrefix(to, ".") {
			return "", fmt.Errorf("the file's own name is %q: give another with --out", file.Filename)
		}
	}
	made, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s is there already: give another path with --out", to)
	}
	if err != nil {
		return "", err
	}
	if err := errors.Join(h.Download(ctx, id, made, maxDownloadBytes), made.Close()); err != nil {
		return "", errors.Join(err, os.Remove(to))
	}
	return to, nil
}
