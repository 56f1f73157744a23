package hosted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/skills-mcp/skills-mcp/internal/privatefile"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
)

// pin is the version of a skill that was pushed.
type pin struct {
	Skill   string `json:"skill"`
	Version string `json:"version"`
	// Digest is that of the skill on this machine as it was then.
	Digest string `json:"digest"`
}

// pins are kept in a file, by base URL and the skill's name.
type pins struct {
	file privatefile.File
	api  string
}

type pinned map[string]map[string]pin

func pinsFile() (privatefile.File, error) {
	dir, err := statedir.Path("")
	return privatefile.File{Dir: dir, Name: "hosted.json", MaxBytes: 4 << 20}, err
}

func decodePins(data []byte, err error) (pinned, error) {
	all := pinned{}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, fmt.Errorf("what was pushed is not known: %w", err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("what was pushed is not known: hosted.json in the state directory is damaged; remove it, and push again: %w", err)
	}
	return all, nil
}

// get returns a skill's pin, or an empty one.
func (p pins) get(name string) (pin, error) {
	all, err := decodePins(p.file.Read())
	return all[p.api][name], err
}

// set keeps a skill's pin.
func (p pins) set(name string, to pin) error {
	return p.change(func(own map[string]pin) { own[name] = to })
}

// forget drops the pin of a skill that is no more.
func (p pins) forget(id string) error {
	return p.change(func(own map[string]pin) {
		maps.DeleteFunc(own, func(_ string, pin pin) bool { return pin.Skill == id })
	})
}

func (p pins) change(work func(own map[string]pin)) error {
	return p.file.Locked(func(locked privatefile.Locked) error {
		all, err := decodePins(locked.Read())
		if err != nil {
			return err
		}
		if all[p.api] == nil {
			all[p.api] = map[string]pin{}
		}
		work(all[p.api])
		data, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		return locked.Write(append(data, '\n'))
	})
}
