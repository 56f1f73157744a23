package contained

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// State returns a text that differs from an earlier one where what name leads to
// has changed since: a file's content, or what lies in a directory and the
// directories below it, as far as it is listed. A path that leads to nothing
// that can be read has a state too. Files are not opened: they are known by
// identity, size and times, and of a directory as many names are looked at as
// [Dir.List] looks at.
func (d *Dir) State(name string) string {
	state, err := d.state(name)
	if refused, ok := errors.AsType[*Error](err); ok {
		return string(refused.Rule)
	}
	return state
}

func (d *Dir) state(name string) (string, error) {
	clean, info, err := d.find(name)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return stateOf(info), nil
	}
	sum := sha256.New()
	w := walk{dir: d, keep: maxScanned, visit: func(clean string, info fs.FileInfo) error {
		fmt.Fprintf(sum, "%q %s\n", clean, stateOf(info))
		return nil
	}}
	err = w.from(clean, maxPathSegments)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// stateOf returns what differs between the states of a file, and between files.
// A directory has none of its own.
func stateOf(info fs.FileInfo) string {
	if info.IsDir() {
		return "directory"
	}
	return fmt.Sprintf("%v %v", info.Mode(), filestat.Of(info))
}
