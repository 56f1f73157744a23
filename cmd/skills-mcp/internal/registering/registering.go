package registering

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

const (
	// maxFileBytes bounds a host's file. Some keep their history in it.
	maxFileBytes = 64 << 20
	// maxTries is how often a file is changed again that its host changes meanwhile.
	maxTries = 5
)

// bom begins files that some editors write.
var bom = []byte("\xef\xbb\xbf")

// Change is what was done to a host's file.
type Change struct {
	// Changed reports whether the file is another one now.
	Changed bool
	// Backup is the copy of what it held, or empty where it was not there.
	Backup string
}

// CheckName refuses names that some host does not take.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,31}$`).MatchString(name) {
		return fmt.Errorf("the name %q is not one that every host takes; use up to 32 letters, digits and hyphens", name)
	}
	return nil
}

// Show returns an entry as the host's file would have it.
func (h Host) Show(name string, entry Entry) []byte { return h.format.show(name, entry) }

// Entries returns the servers in the host's file: none where there is no file.
func (h Host) Entries() (map[string]Entry, error) {
	data, err := h.read()
	if err != nil {
		return nil, err
	}
	entries, err := h.format.entries(bytes.TrimPrefix(data, bom))
	if err != nil {
		return nil, h.unreadable(err)
	}
	return entries, nil
}

func (h Host) unreadable(err error) error {
	return fmt.Errorf("%s cannot be read as %s does: %w; correct it first, nothing was changed", h.File, h.Title, err)
}

// Register puts an entry into the host's file. An entry of that name that starts
// something else stays, and is an error.
func (h Host) Register(name string, entry Entry, now time.Time) (Change, error) {
	for _, arg := range append([]string{entry.Command}, entry.Args...) {
		if h.expands && strings.Contains(arg, "$") {
			return Change{}, fmt.Errorf("%s would put the value of a variable into %q; use a path without $", h.Title, arg)
		}
	}
	return h.change(now, func(data []byte, entries map[string]Entry) ([]byte, error) {
		old, there := entries[name]
		switch {
		case there && !old.Ours():
			return nil, fmt.Errorf("%s has another server %q, which starts %q; choose another name with --name", h.File, name, old.Command)
		case there && old.Command == entry.Command && slices.Equal(old.Args, entry.Args):
			return data, nil
		}
		return h.format.put(data, name, entry)
	}, func(entries map[string]Entry) bool {
		got := entries[name]
		return got.Command == entry.Command && slices.Equal(got.Args, entry.Args)
	}, name)
}

// Unregister takes an entry out of the host's file. One that starts something else
// stays, and is an error.
func (h Host) Unregister(name string, now time.Time) (Change, error) {
	return h.change(now, func(data []byte, entries map[string]Entry) ([]byte, error) {
		old, there := entries[name]
		switch {
		case !there:
			return data, nil
		case !old.Ours():
			return nil, fmt.Errorf("%s has another server %q, which starts %q; it stays", h.File, name, old.Command)
		}
		return h.format.remove(data, name)
	}, func(entries map[string]Entry) bool {
		_, there := entries[name]
		return !there
	}, name)
}

// change replaces the file by what edit makes of it, where that is as wanted and
// says of everything else the same as before.
func (h Host) change(now time.Time, edit func(data []byte, entries map[string]Entry) ([]byte, error), wanted func(map[string]Entry) bool, name string) (Change, error) {
	for range maxTries {
		whole, err := h.read()
		if err != nil {
			return Change{}, err
		}
		old := bytes.TrimPrefix(whole, bom)
		entries, err := h.format.entries(old)
		if err != nil {
			return Change{}, h.unreadable(err)
		}
		edited, err := edit(old, entries)
		if err != nil {
			return Change{}, err
		}
		if bytes.Equal(edited, old) {
			return Change{}, nil
		}
		if got, err := h.format.entries(edited); err != nil || !wanted(got) || !h.sameBesides(old, edited, name) {
			return Change{}, fmt.Errorf("%s is written in a way in which the entry cannot be changed and everything else be left as it is; change it by hand ('--print' shows the entry)", h.File)
		}
		if bytes.HasPrefix(whole, bom) {
			edited = slices.Concat(bom, edited)
		}
		change, err := h.replace(whole, edited, now)
		if !errors.Is(err, errMeanwhile) {
			return change, err
		}
	}
	return Change{}, fmt.Errorf("%s is changed all the time; close %s and try again", h.File, h.Title)
}

// sameBesides reports whether two texts say the same of everything but one server.
func (h Host) sameBesides(old, edited []byte, name string) bool {
	a, errA := h.without(old, name)
	b, errB := h.without(edited, name)
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// without returns what a text says of everything but one server.
func (h Host) without(data []byte, name string) (whole map[string]any, err error) {
	key := tomlTable
	if file, isJSON := h.format.(jsonFile); isJSON {
		key = file.key
		if len(bytes.TrimSpace(data)) == 0 {
			return map[string]any{}, nil
		}
		if data, err = hujson.Standardize(bytes.Clone(data)); err == nil {
			decoder := json.NewDecoder(bytes.NewReader(data))
			decoder.UseNumber()
			err = decoder.Decode(&whole)
		}
	} else {
		_, err = toml.Decode(string(data), &whole)
	}
	if servers, isTable := whole[key].(map[string]any); isTable {
		servers = maps.Clone(servers)
		delete(servers, name)
		whole[key] = servers
		if len(servers) == 0 {
			delete(whole, key)
		}
	}
	return whole, err
}

// read returns what the file holds: nothing where it is not there.
func (h Host) read() ([]byte, error) {
	file, err := os.Open(h.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", h.File)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d MiB", h.File, maxFileBytes>>20)
	}
	return data, err
}

var errMeanwhile = errors.New("the file was changed meanwhile")

// replace puts new data in the place of the old, of which it keeps a copy.
func (h Host) replace(old, data []byte, now time.Time) (change Change, err error) {
	target, mode := h.File, fs.FileMode(0o600)
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved // a link to where the user keeps such files stays one
	}
	info, err := os.Stat(target)
	switch {
	case err == nil:
		mode = info.Mode().Perm()
		change.Backup = target + now.UTC().Format(".20060102T150405.000.bak")
		if err := writeNew(change.Backup, old, mode); err != nil {
			return Change{}, fmt.Errorf("no copy of the file can be kept, so it was not changed: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return Change{}, err
	default:
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return Change{}, err
		}
	}
	temporary := target + fmt.Sprintf(".%d.tmp", os.Getpid())
	defer func() {
		if err != nil {
			os.Remove(temporary)
			if change.Backup != "" {
				os.Remove(change.Backup)
			}
		}
	}()
	if err := writeNew(temporary, data, mode); err != nil {
		return change, err
	}
	if current, err := h.read(); err != nil || !bytes.Equal(current, old) {
		return change, errors.Join(errMeanwhile, err)
	}
	if err := os.Rename(temporary, target); err != nil {
		return change, err
	}
	change.Changed = true
	return change, nil
}

// writeNew writes a file that is not there yet, to the disk.
func writeNew(name string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		os.Remove(name)
	}
	return err
}
