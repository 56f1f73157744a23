package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/privatefile"
)

// GrantsFile is the name of the file in the user's directory of this program
// that holds what `skills-mcp grant` granted. It is read whichever other file is.
const GrantsFile = "grants.yaml"

// grantsHeader begins the file.
const grantsHeader = "# Written by 'skills-mcp grant' and 'skills-mcp revoke', which keep no comments.\n"

// Granted is the [GrantsFile] of a user. It is safe for use by several
// goroutines, and servers that run see at once what other processes write.
type Granted struct {
	file privatefile.File // none where its Dir is empty

	mu   sync.Mutex
	last granted
}

// granted is what was read of the file in one state.
type granted struct {
	state   filestat.State
	at      time.Time
	skills  map[string]Grants
	origins map[string]Origin
	err     error
}

// OpenGranted returns the grants in a user's directory of configurations, as
// [Sources.UserDir] has it. Nothing is read yet.
func OpenGranted(userDir string) *Granted {
	if userDir == "" {
		return &Granted{}
	}
	return &Granted{file: privatefile.File{Dir: filepath.Join(userDir, "skills-mcp"), Name: GrantsFile, MaxBytes: maxFileBytes}}
}

// Path is where the file is; empty where there is no directory for it.
func (g *Granted) Path() string {
	if g.file.Dir == "" {
		return ""
	}
	return g.file.Path()
}

// Of returns what a skill is granted now. On an error, which says what is wrong
// with the file, that is nothing.
func (g *Granted) Of(skill string) (Grants, error) {
	now := g.now()
	return now.skills[skill], now.err
}

// All returns what all skills are granted now.
func (g *Granted) All() (map[string]Grants, error) {
	now := g.now()
	return maps.Clone(now.skills), now.err
}

// now returns what the file holds, which is read again where it is another.
func (g *Granted) now() granted {
	if g.file.Dir == "" {
		return granted{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	info, err := os.Lstat(g.file.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return granted{}
	}
	if err == nil && g.last.err == nil && g.last.state.Known() && filestat.Of(info) == g.last.state && g.last.state.Settled(g.last.at) {
		return g.last
	}
	g.last = granted{at: time.Now()}
	if err == nil {
		g.last.state = filestat.Of(info)
	}
	g.last.take(g.file.Path(), g.file.Read)
	return g.last
}

// take reads the file.
func (g *granted) take(path string, read func() ([]byte, error)) {
	source, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		g.skills, g.origins, err = parseGrants(path, source)
	}
	if err != nil {
		g.err = fmt.Errorf("nothing of %s is granted, since it cannot be used: %w", GrantsFile, err)
	}
}

// parseGrants reads the text of the file.
func parseGrants(path string, source []byte) (map[string]Grants, map[string]Origin, error) {
	var skills map[string]Grants
	r := &reader{kind: FromFile, file: path, origins: map[string]Origin{}}
	if err := r.readFile(source, grantsKeys(&skills)); err != nil {
		return nil, nil, err
	}
	if faults := grantFaults(skills, r.origins); len(faults) > 0 {
		return nil, nil, &Error{Faults: faults}
	}
	return skills, r.origins, nil
}

// grantsKeys are those of the file.
func grantsKeys(skills *map[string]Grants) group {
	return group{{name: "skills", value: sections[Grants]{to: skills, fields: grantKeys, check: plainName}}}
}

// Change changes what skills are granted, while no other process does. An error
// of edit leaves everything as it is, and so does a file that cannot be used.
func (g *Granted) Change(edit func(skills map[string]Grants) error) error {
	if g.file.Dir == "" {
		return errors.New("there is no directory for configurations")
	}
	return g.file.Locked(func(locked privatefile.Locked) error {
		var now granted
		now.take(g.file.Path(), locked.Read)
		if now.err != nil {
			return now.err
		}
		if now.skills == nil {
			now.skills = map[string]Grants{}
		}
		if err := edit(now.skills); err != nil {
			return err
		}
		text := grantsYAML(now.skills)
		if _, _, err := parseGrants(g.file.Path(), text); err != nil {
			return err
		}
		return locked.Write(text)
	})
}

// grantsYAML returns the text of the file.
func grantsYAML(skills map[string]Grants) []byte {
	p := &printer{bare: true}
	grantsKeys(&skills).print(p, "", "")
	return []byte(grantsHeader + p.out.String())
}

// Grants returns what a skill is granted now: by the user's file, which is read
// once, or else by the [GrantsFile]. On an error that is nothing.
func (e *Effective) Grants(skill string) (Grants, error) {
	if own := e.own[skill]; !own.None() || e.Granted == nil {
		return own, nil
	}
	return e.Granted.Of(skill)
}

// OwnGrants returns what the user's file says that a skill is granted, and where.
func (e *Effective) OwnGrants(skill string) (own Grants, at Origin, found bool) {
	own = e.own[skill]
	return own, e.Origin("skills." + skill), !own.None()
}

// loadGrants adds the [GrantsFile]. What the user's file says of a skill's grants
// is all that is said of them.
func (e *Effective) loadGrants(userDir string) {
	e.Granted, e.own = OpenGranted(userDir), map[string]Grants{}
	for name, skill := range e.Skills {
		e.own[name] = skill.Grants
	}
	now := e.Granted.now()
	if now.err != nil {
		e.Warnings = append(e.Warnings, now.err.Error())
	}
	for _, name := range sortedKeys(now.skills) {
		at := "skills." + name
		if own := e.own[name]; !own.None() {
			e.Warnings = append(e.Warnings, fmt.Sprintf("what %s says of %s is left out, since the section at %s says what it is granted", GrantsFile, name, e.Origin(at)))
			continue
		}
		section := e.Skills[name]
		section.Grants = now.skills[name]
		if e.Skills == nil {
			e.Skills = map[string]Skill{}
		}
		e.Skills[name] = section
		for key, origin := range now.origins {
			if _, known := e.origins[key]; !known && (key == at || within(key, at)) {
				e.origins[key] = origin
			}
		}
	}
}

// within reports whether a key's path lies below another one.
func within(key, at string) bool {
	return len(key) > len(at) && key[:len(at)] == at && key[len(at)] == '.'
}
