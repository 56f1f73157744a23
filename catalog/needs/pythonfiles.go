package needs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// elsewhere says why a requirement is not taken.
const elsewhere = "%s is not taken: packages come from the index, by name and version"

// development are files of requirements that are not for running a skill.
var development = regexp.MustCompile(`(?i)(^|[-_.])(dev|develop|development|test|tests|testing|lint|docs?|ci|build)([-_.]|$)`)

// isRequirements reports whether a file is called as those of requirements are.
func isRequirements(base string) bool {
	return strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt") && !development.MatchString(strings.TrimSuffix(base, ".txt"))
}

var (
	requirementHash = regexp.MustCompile(`\s--hash[= ](\S+)`)
	sha256Hash      = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// readRequirements reads a file of requirements, and those that it includes,
// once.
func (f *finder) readRequirements(name string) {
	if f.included[name] {
		return
	}
	f.included[name] = true
	text, ok := f.open(name)
	if !ok {
		return
	}
	f.projects++
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		source, line := Source{File: name, Line: i + 1}, lines[i]
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + lines[i]
		}
		if before, _, comment := strings.Cut(" "+line, " #"); comment {
			line = before
		}
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "-"):
			f.readOption(source, line)
		default:
			f.declare(source, line)
		}
	}
}

// readOption follows one that includes a file of the skill. Where packages come
// from is for the user to say.
func (f *finder) readOption(source Source, line string) {
	for _, option := range []string{"--requirement=", "--requirement ", "-r"} {
		included, found := strings.CutPrefix(line, option)
		if !found {
			continue
		}
		included = strings.TrimSpace(included)
		if file := path.Join(path.Dir(source.File), included); fs.ValidPath(file) && !path.IsAbs(included) && len(f.included) < maxSources*maxDepth {
			f.readRequirements(file)
			return
		}
	}
	option, _, _ := strings.Cut(line, " ")
	option, _, _ = strings.Cut(option, "=")
	f.note(source, fmt.Sprintf("the option %s is not followed", shown(option)))
}

// declare adds a line of a file of requirements.
func (f *finder) declare(source Source, line string) {
	var hashes []string
	for _, hash := range requirementHash.FindAllStringSubmatch(line, -1) {
		if !sha256Hash.MatchString(hash[1]) {
			f.note(source, fmt.Sprintf("the hash %s is no SHA-256", shown(hash[1])))
			return
		}
		hashes = append(hashes, hash[1])
	}
	r, ok := parsePython(requirementHash.ReplaceAllString(line, ""))
	if !ok {
		f.note(source, fmt.Sprintf(elsewhere, shown(line)))
		return
	}
	r.Hashes, r.Sources = hashes, []Source{source}
	f.declaredPython.add(r)
}

// declareAll adds a list of a TOML document, of which the text is given.
func (f *finder) declareAll(name, text string, first int, list []string) {
	for _, requirement := range list[:min(len(list), maxGathered)] {
		f.declare(Source{File: name, Line: lineOf(text, requirement, first)}, requirement)
	}
	f.declaredPython.more += max(0, len(list)-maxGathered)
}

// lineOf returns the line on which a string stands in a text, of which the
// first line has a number.
func lineOf(text, value string, first int) int {
	before, _, found := strings.Cut(text, value)
	if !found {
		return first
	}
	return first + strings.Count(before, "\n")
}

// project is what a TOML document says of what it needs.
type project struct {
	Dependencies   []string
	RequiresPython string `toml:"requires-python"`
}

// readProject reads a pyproject.toml. Nothing of it is built.
func (f *finder) readProject(name string) {
	text, ok := f.open(name)
	if !ok {
		return
	}
	var document struct{ Project project }
	if _, err := toml.Decode(text, &document); err != nil {
		f.note(Source{File: name, Line: tomlLine(err)}, "it is no valid TOML, or not as a pyproject.toml has to be")
		return
	}
	if len(document.Project.Dependencies) > 0 {
		f.projects++
	}
	f.declareAll(name, text, 1, document.Project.Dependencies)
	f.requirePython(Source{File: name}, document.Project.RequiresPython)
}

func tomlLine(err error) int {
	if fault, ok := err.(toml.ParseError); ok { //nolint:errorlint // that is how the library returns it
		return fault.Position.Line
	}
	return 0
}

// pythonVersions is a list of versions of PEP 440, without local ones.
var pythonVersions = regexp.MustCompile(`^\s*(===?|~=|!=|<=|>=|<|>)\s*\d+(\.\d+)*(\.\*)?(\s*,\s*(===?|~=|!=|<=|>=|<|>)\s*\d+(\.\d+)*(\.\*)?)*\s*,?\s*$`)

// requirePython adds the versions of Python that something states.
func (f *finder) requirePython(source Source, versions string) {
	switch {
	case versions == "":
	case !pythonVersions.MatchString(versions) || len(versions) > maxText:
		f.note(source, fmt.Sprintf("requires-python %s is not understood", shown(versions)))
	case len(f.found.RequiresPython) < maxHints:
		f.found.RequiresPython = append(f.found.RequiresPython, strings.TrimSuffix(strings.Join(strings.Fields(versions), ""), ","))
	}
}

// readInline reads the block of PEP 723 in a script, and reports whether there
// is one.
func (f *finder) readInline(name, text string) bool {
	block, first, found, twice := inlineBlock(text)
	switch {
	case !found:
		return false
	case twice:
		f.note(Source{File: name, Line: first}, "there is more than one block of metadata, so that none counts")
		return false
	}
	var document project
	if _, err := toml.Decode(block, &document); err != nil {
		f.note(Source{File: name, Line: first + tomlLine(err)}, "the block of metadata is no valid TOML")
		return false
	}
	f.declareAll(name, block, first+1, document.Dependencies)
	f.requirePython(Source{File: name, Line: first}, document.RequiresPython)
	return true
}

// inlineBlock returns the content of a block "script" as PEP 723 has it, and
// the line on which it begins.
func inlineBlock(text string) (block string, first int, found, twice bool) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimRight(lines[i], " \t") != "# /// script" {
			continue
		}
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], "#") {
			end++
		}
		closing := end - 1
		for closing > i && strings.TrimRight(lines[closing], " \t") != "# ///" {
			closing--
		}
		if closing == i {
			continue
		}
		if found {
			return "", first, true, true
		}
		var content []string
		for _, line := range lines[i+1 : closing] {
			content = append(content, strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
		}
		block, first, found = strings.Join(content, "\n"), i+1, true
		i = closing
	}
	return block, first, found, false
}
