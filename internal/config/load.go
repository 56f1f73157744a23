package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFileBytes bounds the user's file, in bytes.
const maxFileBytes = 1 << 20

// envPrefix begins the names of variables, and envFile is the one that names
// the file.
const (
	envPrefix = "SKILLS_MCP_"
	envFile   = envPrefix + "CONFIG"
)

// foreignVariables are of the tests.
var foreignVariables = []string{envPrefix + "TEST", envPrefix + "REQUIRE"}

// Sources are what the operator said. A project's file is read by
// [Effective.Narrow].
type Sources struct {
	// File is the file that the command line names; empty where it names none.
	// Then it is that of $SKILLS_MCP_CONFIG, else skills-mcp/config.yaml in
	// UserDir, which need not exist.
	File string
	// UserDir is the user's directory of configurations, as [os.UserConfigDir]
	// returns it; empty where there is none. The [GrantsFile] is below it.
	UserDir string
	// Environ are variables as [os.Environ] returns them.
	Environ []string
	// Flags are those that were given.
	Flags []Flag
}

// Flag is what the command line says of one key.
type Flag struct {
	// Name is what it is called in messages, such as "--sandbox".
	Name string
	// Key is the path of the key, such as "sandbox.backend".
	Key string
	// Values are the values: one but for lists.
	Values []string
}

// Effective is the configuration in force, and where each value comes from.
type Effective struct {
	Config
	// File is the user's file that was read; empty where there was none.
	File string
	// Warnings are sentences on what was left unread.
	Warnings []string
	// ProjectError is why a project's file cannot be used; nil where it can, or
	// there is none. The strictest is in force then.
	ProjectError error
	// Granted is the file of what skills are granted, as it is now.
	Granted *Granted

	origins map[string]Origin
	own     map[string]Grants // in the user's file
}

// Load reads the operator's configuration. Errors are [*Error] where something
// is wrong with a value, and else say that the file cannot be read.
func Load(sources Sources) (*Effective, error) {
	e := &Effective{Config: Default(), origins: map[string]Origin{}}
	environment := variables(sources.Environ)
	if err := e.loadFile(sources, environment[envFile]); err != nil {
		return nil, err
	}
	if err := e.loadEnvironment(environment); err != nil {
		return nil, err
	}
	for _, flag := range sources.Flags {
		if err := e.set(flag.Key, Origin{Kind: FromFlag, Name: flag.Name}, flag.Values); err != nil {
			return nil, err
		}
	}
	e.settle()
	e.loadGrants(sources.UserDir)
	return e, nil
}

// Origin returns where the value of a key comes from, such as "log.level".
func (e *Effective) Origin(key string) Origin { return originOf(e.origins, key) }

// Refuse returns an error that says what is wrong with the value of a key, and
// where it stands.
func (e *Effective) Refuse(key string, err error) error {
	origin, message := e.Origin(key), err.Error()
	if origin.Kind != FromFlag {
		message = key + ": " + message
	}
	return &Error{Faults: []Fault{{origin, message}}}
}

func (e *Effective) loadFile(sources Sources, variable string) error {
	file, named := sources.File, true
	switch {
	case file != "":
	case variable != "":
		file = variable
	case sources.UserDir != "":
		file, named = filepath.Join(sources.UserDir, "skills-mcp", "config.yaml"), false
	default:
		return nil
	}
	source, err := readBounded(file)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the configuration cannot be read: %w", err)
	}
	e.File = file
	r := &reader{kind: FromFile, file: file, origins: e.origins}
	if err := r.readFile(source, keys(&e.Config)); err != nil {
		return err
	}
	return e.checkSections()
}

func readBounded(file string) ([]byte, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	source, err := io.ReadAll(io.LimitReader(opened, maxFileBytes+1))
	if err == nil && len(source) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %s", file, formatSize(maxFileBytes))
	}
	return source, err
}

// checkSections refuses what is said of one skill and is less strict than what is
// said of all, or not enough.
func (e *Effective) checkSections() error {
	grants := map[string]Grants{}
	for name, skill := range e.Skills {
		grants[name] = skill.Grants
	}
	faults := grantFaults(grants, e.origins)
	e.eachOwn(func(at, global string, own, all bounded) {
		if own.exceeds(all) {
			faults = append(faults, Fault{e.origins[at], fmt.Sprintf("%s: %s is more than %s, which %s has for all skills", at, own.shown(), all.shown(), global)})
		}
	})
	if len(faults) == 0 {
		return nil
	}
	slices.SortFunc(faults, func(a, b Fault) int { return a.Origin.Line - b.Origin.Line })
	return &Error{Faults: faults[:min(len(faults), maxFaults)]}
}

// bounded is a value that another one may bound.
type bounded interface {
	exceeds(bound value) bool
	clamp(bound value)
	shown() string
	value
}

func (s scalar[T]) exceeds(bound value) bool { return s.wider(*s.to, *bound.(scalar[T]).to) }
func (s scalar[T]) clamp(bound value)        { *s.to = *bound.(scalar[T]).to }
func (s scalar[T]) shown() string            { return s.format(*s.to) }

// settle makes what is said of one skill no less strict than what is in force for
// all, which others than the user's file may have made stricter.
func (e *Effective) settle() {
	e.eachOwn(func(at, global string, own, all bounded) {
		if own.exceeds(all) {
			own.clamp(all)
			e.origins[at] = e.Origin(global)
		}
	})
}

// eachOwn calls do with what is said of single skills and with the same for all:
// the paths of both, and their values.
func (e *Effective) eachOwn(do func(at, global string, own, all bounded)) {
	all := keys(&e.Config)
	for _, skill := range sortedKeys(e.Skills) {
		section := e.Skills[skill]
		skillKeys(&section).leaves("", func(global string, f field) {
			at := "skills." + skill + "." + global
			if _, set := e.origins[at]; set && f.narrows != "" {
				do(at, global, f.value.(bounded), all.find(global).(bounded))
			}
		})
		e.Skills[skill] = section
	}
}

// find returns the value of a key, or nil.
func (g group) find(path string) value {
	name, rest, below := strings.Cut(path, ".")
	for _, f := range g {
		if f.name != name {
			continue
		}
		if inner, isGroup := f.value.(group); below && isGroup {
			return inner.find(rest)
		}
		return f.value
	}
	return nil
}

// leaves calls do with all fields that are no groups, and their paths.
func (g group) leaves(at string, do func(at string, f field)) {
	for _, f := range g {
		if inner, isGroup := f.value.(group); isGroup {
			inner.leaves(join(at, f.name), do)
			continue
		}
		do(join(at, f.name), f)
	}
}

// set sets the value of a key.
func (e *Effective) set(key string, origin Origin, values []string) error {
	to := keys(&e.Config).find(key)
	if to == nil {
		return fmt.Errorf("there is no key %q", key)
	}
	if err := to.set(values); err != nil {
		return &Error{Faults: []Fault{{origin, err.Error()}}}
	}
	maps.DeleteFunc(e.origins, func(at string, _ Origin) bool { return strings.HasPrefix(at, key+"[") })
	e.origins[key] = origin
	return nil
}

func variables(environ []string) map[string]string {
	found := map[string]string{}
	for _, variable := range environ {
		if name, text, _ := strings.Cut(variable, "="); strings.HasPrefix(name, envPrefix) && text != "" {
			found[name] = text
		}
	}
	return found
}

// loadEnvironment sets what variables say. One that is not known is no error:
// others name theirs after the program too, such as Kubernetes.
func (e *Effective) loadEnvironment(environment map[string]string) (err error) {
	known := append([]string{envFile}, foreignVariables...)
	keys(&e.Config).leaves("", func(at string, f field) {
		name := envPrefix + f.env
		text, given := environment[name]
		if f.env == "" {
			return
		}
		known = append(known, name)
		if !given || err != nil {
			return
		}
		values := []string{text}
		if _, isScalar := f.value.(bounded); !isScalar {
			values = variableItems(text)
		}
		err = e.set(at, Origin{Kind: FromEnvironment, Name: name}, values)
	})
	for _, name := range sortedKeys(environment) {
		if !slices.Contains(known, name) {
			e.Warnings = append(e.Warnings, fmt.Sprintf("the variable %s is not known%s", name, nearest(name, known)))
		}
	}
	return err
}

// YAML returns the configuration as a file that says the same, with where each
// value comes from in comments.
func (e *Effective) YAML() []byte {
	p := &printer{origins: e.origins}
	keys(&e.Config).print(p, "", "")
	return []byte(p.out.String())
}
