package needs

import (
	"regexp"
	"slices"
	"strings"
)

// readMarkdown reads what texts tell to install, and the programs that they
// show.
func (f *finder) readMarkdown(name string) {
	text, ok := f.open(name)
	if !ok {
		return
	}
	if name == entryName {
		f.readFrontmatter(name, text)
	}
	f.findProse(name, text)
	for _, code := range codeOf(text) {
		switch {
		case !code.fenced || slices.Contains(shells, code.language):
			f.findInstalls(name, code)
		case slices.Contains([]string{"python", "py", "python3"}, code.language):
			for _, found := range pythonImports(code.text) {
				f.importPython(Source{File: name, Line: code.line + found.line - 1}, found.module)
			}
		case slices.Contains([]string{"javascript", "js", "typescript", "ts", "mjs", "cjs", "node"}, code.language):
			f.importJavaScript(name, code.line, code.text)
		}
	}
}

// shells are the languages of blocks that hold commands, and none.
var shells = []string{"", "bash", "sh", "shell", "console", "zsh", "text", "txt", "terminal"}

// code is a span of code in a line, or a fenced block.
type code struct {
	line     int // the first of text
	text     string
	language string
	fenced   bool
}

var (
	fence = regexp.MustCompile("^\\s*(?:>\\s*)?(?:[-*+]\\s+)?(`{3,}|~{3,})\\s*([\\w+-]*)")
	span  = regexp.MustCompile("`([^`]+)`")
)

// codeOf returns what is code in a text.
func codeOf(text string) (all []code) {
	var block *code
	var closing string
	var inside strings.Builder
	end := func() {
		block.text = inside.String()
		all, block = append(all, *block), nil
		inside.Reset()
	}
	for i, line := range strings.Split(text, "\n") {
		mark := fence.FindStringSubmatch(line)
		switch {
		case block == nil && mark != nil:
			block, closing = &code{line: i + 2, language: strings.ToLower(mark[2]), fenced: true}, mark[1]
		case block == nil:
			for _, found := range span.FindAllStringSubmatch(line, -1) {
				all = append(all, code{line: i + 1, text: found[1]})
			}
		case mark != nil && mark[2] == "" && strings.HasPrefix(mark[1], closing):
			end()
		default:
			inside.WriteString(line)
			inside.WriteByte('\n')
		}
	}
	if block != nil {
		end()
	}
	return all
}

// installs are the commands by which texts tell what they need. What follows
// are packages and options.
var installs = []struct {
	command *regexp.Regexp
	npm     bool
	// first takes the first package alone: the rest are arguments of a program.
	first bool
	// with takes the values of these options alone.
	with []string
}{
	{command: regexp.MustCompile(`\bpip3?\s+install\s+(.+)`)},
	{command: regexp.MustCompile(`\bpipx\s+(?:install|run)\s+(.+)`), first: true},
	{command: regexp.MustCompile(`\buv\s+add\s+(.+)`)},
	{command: regexp.MustCompile(`\b(?:uvx|uv\s+tool\s+(?:install|run))\s+(.+)`), first: true},
	{command: regexp.MustCompile(`\b(?:uvx|uv\s+run)\s+(.+)`), with: []string{"--with"}},
	{command: regexp.MustCompile(`\b(?:npm\s+(?:install|i|add)|(?:pnpm|yarn|bun)\s+add)\s+(.+)`), npm: true},
	{command: regexp.MustCompile(`\b(?:npx|bunx|npm\s+exec)\s+(.+)`), npm: true, first: true},
}

// findInstalls adds the packages that commands name.
func (f *finder) findInstalls(name string, in code) {
	for i, line := range strings.Split(in.text, "\n") {
		if before, _, comment := strings.Cut(" "+line, " #"); comment {
			line = before
		}
		for _, form := range installs {
			found := form.command.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			for _, word := range packageWords(found[1], form.with, form.first) {
				f.infer(Source{File: name, Line: in.line + i}, word, form.npm)
			}
		}
	}
}

// infer adds a package that a command names.
func (f *finder) infer(source Source, word string, npm bool) {
	parse, list := parsePython, &f.inferredPython
	if npm {
		parse, list = parseNpm, &f.inferredNpm
	}
	r, ok := parse(word)
	if !ok || slices.Contains(noPackages, r.Name) {
		return
	}
	r.Sources = []Source{source}
	list.add(r)
}

// noPackages are what texts write in the place of one, and installers.
var noPackages = []string{
	"package", "package-name", "packages", "some-package", "your-package", "my-package", "name", "pip", "setuptools", "wheel", "uv", "npm", "pipx", "x",
}

// valued are options that a value follows, which is no package.
var valued = []string{
	"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target",
	"--prefix", "--root", "--python", "-p", "--trusted-host", "--registry", "--with-requirements", "--directory", "--project", "--group", "-w", "--workspace",
}

// packageWords returns those words of a command that can be packages.
func packageWords(rest string, with []string, first bool) (packages []string) {
	words := shellWords(rest)
	for i := 0; i < len(words); i++ {
		word := words[i]
		option, value, joined := strings.Cut(word, "=")
		switch {
		case len(with) > 0:
			if slices.Contains(with, option) && !joined && i+1 < len(words) {
				i, value = i+1, words[i+1]
			}
			if slices.Contains(with, option) {
				packages = append(packages, listed(value)...)
			}
		case option == "--from" || option == "--package":
			// What has the program, which follows, is another package.
			if !joined && i+1 < len(words) {
				value = words[i+1]
			}
			return append(packages, value)
		case slices.Contains(valued, word):
			i++
		case strings.HasPrefix(word, "-"):
		case first:
			return []string{word}
		default:
			packages = append(packages, word)
		}
	}
	return packages
}

// listed returns the requirements between commas, of which some are within
// requirements.
func listed(text string) (all []string) {
	for part := range strings.SplitSeq(text, ",") {
		if last := len(all) - 1; last >= 0 && (strings.IndexAny(part, "<>=!~") == 0 || strings.Count(all[last], "[") > strings.Count(all[last], "]")) {
			all[last] += "," + part
		} else {
			all = append(all, part)
		}
	}
	return all
}

// shellWords returns the words of a simple command, to where it ends.
func shellWords(text string) (words []string) {
	var word strings.Builder
	var quote rune
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
		}
		word.Reset()
	}
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote = c
		case c == ' ' || c == '\t':
			flush()
		case strings.ContainsRune("&|;()`$\\#", c) || c == '>' && word.Len() == 0:
			flush()
			return words
		default:
			word.WriteRune(c)
		}
	}
	flush()
	return words
}
