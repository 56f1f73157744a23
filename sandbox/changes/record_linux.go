package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/overlay"
)

// record is what is remembered of a set between runs.
type record struct {
	overlay.Known
	// Dirty says that programs may have changed what is not in Items yet.
	Dirty bool `json:"dirty"`
	// History are the last states that were applied.
	History []applied `json:"history,omitempty"`
}

// applied is a state of a set that was applied.
type applied struct {
	Held string    `json:"held"`
	Undo string    `json:"undo"`
	When time.Time `json:"when"`
}

// mostHistory is how many applied states a set remembers.
const mostHistory = 100

// identity is what never changes of a set.
type identity struct {
	Target  Target     `json:"target"`
	Root    files.Root `json:"root"`
	Key     []byte     `json:"key"` // of the digests in ids
	Created time.Time  `json:"created"`
}

// stateError is an error about the directory of the store.
func stateError(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrState, err)
}

// readJSON reads a file that this package wrote.
func readJSON(file string, to any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrState, filepath.Base(file), err)
	}
	return nil
}
