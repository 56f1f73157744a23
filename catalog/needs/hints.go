package needs

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

var (
	variableUses = []*regexp.Regexp{
		regexp.MustCompile(`\bos\.environ(?:\.get\s*\(|\s*\[)\s*["']([A-Za-z_]\w{1,63})["']`),
		regexp.MustCompile(`\b(?:os\.)?getenv\s*\(\s*["']([A-Za-z_]\w{1,63})["']`),
		regexp.MustCompile(`\bprocess\.env\.([A-Za-z_]\w{1,63})`),
		regexp.MustCompile(`\bprocess\.env\[\s*["']([A-Za-z_]\w{1,63})["']`),
		regexp.MustCompile(`\bENV\[\s*["']([A-Za-z_]\w{1,63})["']`),
	}
	// secretName is what names of secrets look like wherever they are mentioned.
	secretName = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:API_KEY|APIKEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD)\b`)
	webHost    = regexp.MustCompile(`\bhttps?://([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\.[A-Za-z]{2,24})(?:[:/"'\s?#]|$)`)
)

// ordinary are variables that say nothing about what a skill needs.
var ordinary = strings.Fields(`HOME PATH TMPDIR TEMP TMP SKILL_DIR WORKSPACE PROJECT USER USERNAME USERPROFILE LOGNAME SHELL LANG LC_ALL PWD TERM NO_COLOR FORCE_COLOR
	COLUMNS LINES PYTHONPATH PYTHONUNBUFFERED NODE_ENV NODE_PATH CI DEBUG DISPLAY EDITOR APPDATA LOCALAPPDATA VIRTUAL_ENV
	XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY`)

// namesOnly are hosts of names that look like addresses, and of examples.
var namesOnly = strings.Fields(`www.w3.org w3.org schemas.openxmlformats.org schemas.microsoft.com purl.org ns.adobe.com json-schema.org
	example.com example.org example.net www.example.com`)

// findHints adds the variables and hosts that a program mentions.
func (f *finder) findHints(name, text string) {
	for i, line := range strings.Split(text, "\n") {
		source := Source{File: name, Line: i + 1}
		for _, form := range variableUses {
			for _, found := range form.FindAllStringSubmatch(line, -1) {
				f.hintVariable(found[1], false, source)
			}
		}
		for _, found := range secretName.FindAllString(line, -1) {
			f.hintVariable(found, false, source)
		}
		for _, found := range webHost.FindAllStringSubmatch(line, -1) {
			if host := strings.ToLower(found[1]); !slices.Contains(namesOnly, host) {
				hint(&f.found.Hosts, host, false, source)
			}
		}
	}
}

// findProse adds the secrets that a text mentions.
func (f *finder) findProse(name, text string) {
	for i, line := range strings.Split(text, "\n") {
		for _, found := range secretName.FindAllString(line, -1) {
			f.hintVariable(found, false, Source{File: name, Line: i + 1})
		}
	}
}

func (f *finder) hintVariable(name string, declared bool, source Source) {
	if !slices.Contains(ordinary, name) {
		hint(&f.found.Variables, name, declared, source)
	}
}

// hint adds a name, or a source to one that is known.
func hint(to *[]Hint, name string, declared bool, source Source) {
	i := slices.IndexFunc(*to, func(known Hint) bool { return known.Name == name })
	if i < 0 {
		if len(*to) < maxHints {
			*to = append(*to, Hint{Name: name, Declared: declared, Sources: []Source{source}})
		}
		return
	}
	known := &(*to)[i]
	known.Declared = known.Declared || declared
	known.Sources = union(maxSources, known.Sources, source)
}

// variableName is what may be the name of one in frontmatter.
var variableName = regexp.MustCompile(`^[A-Za-z_]\w{1,63}$`)

// readFrontmatter reads the names of variables that authors put into metadata:
// a list "env" of what is required, and one "primaryEnv", at any depth.
func (f *finder) readFrontmatter(name, text string) {
	rest, found := strings.CutPrefix(text, "---\n")
	front, _, closed := strings.Cut(rest, "\n---")
	if !found || !closed {
		return
	}
	root, err := yamldoc.Parse([]byte(front))
	if err != nil || root == nil {
		return // which the catalog says
	}
	f.walkFrontmatter(name, root, "", 0)
}

func (f *finder) walkFrontmatter(name string, node *yaml.Node, key string, depth int) {
	if depth > maxDepth {
		return
	}
	declare := func(value *yaml.Node) {
		if value.Kind == yaml.ScalarNode && variableName.MatchString(value.Value) {
			f.hintVariable(value.Value, true, Source{File: name, Line: value.Line + 1})
		}
	}
	switch {
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			below, value := node.Content[i].Value, node.Content[i+1]
			switch {
			case below == "primaryEnv":
				declare(value)
			case below == "env" && key == "requires" && value.Kind == yaml.SequenceNode:
				for _, item := range value.Content {
					declare(item)
				}
			default:
				f.walkFrontmatter(name, value, below, depth+1)
			}
		}
	case node.Kind == yaml.SequenceNode, node.Kind == yaml.DocumentNode:
		for _, item := range node.Content {
			f.walkFrontmatter(name, item, key, depth+1)
		}
	}
}
