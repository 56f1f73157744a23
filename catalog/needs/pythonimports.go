package needs

import (
	"regexp"
	"strings"
)

// imported is a module that a program imports, and on which line.
type imported struct {
	module string
	line   int
}

// readPython reads a script of Python.
func (f *finder) readPython(name string) {
	text, ok := f.readScript(name)
	if !ok || f.readInline(name, text) {
		return
	}
	for _, found := range pythonImports(text) {
		f.importPython(Source{File: name, Line: found.line}, found.module)
	}
}

// importPython adds the package of an imported module.
func (f *finder) importPython(source Source, module string) {
	top, _, _ := strings.Cut(module, ".")
	if top == "" || strings.HasPrefix(top, "_") || pythonStandard()[top] || f.local[top] {
		return
	}
	name, known := packageOf(module)
	r, ok := parsePython(name)
	if !ok {
		return
	}
	r.Import, r.Guess, r.Sources = module, !known, []Source{source}
	if known {
		r.Import = top
	}
	f.inferredPython.add(r)
}

// statement is a logical line of a program: without comments, with strings
// emptied.
type statement struct {
	line, indent int
	text         string
}

var (
	importStatement = regexp.MustCompile(`^import\s+(.+)$`)
	fromStatement   = regexp.MustCompile(`^from\s+([A-Za-z_][\w.]*)\s+import\s+(.+)$`)
	modulePath      = regexp.MustCompile(`^[A-Za-z_]\w*(\s*\.\s*[A-Za-z_]\w*)*`)
	// secondChoice begins a block of what is imported where the first choice is
	// missing, or by tools that check types alone.
	secondChoice = regexp.MustCompile(`^(except\b.*|if\b.*\bTYPE_CHECKING\b.*):$`)
)

// pythonImports returns the modules that a program imports by a statement,
// wherever it stands. Nothing is run; what is no Python gives nothing or
// nonsense, which a user is shown.
func pythonImports(text string) (found []imported) {
	skipped := -1 // the indentation of what begins a block that is left out
	for _, s := range statements(text) {
		if skipped >= 0 && s.indent > skipped {
			continue
		}
		skipped = -1
		if secondChoice.MatchString(s.text) {
			skipped = s.indent
			continue
		}
		for _, module := range modulesOf(s.text) {
			found = append(found, imported{module, s.line})
		}
	}
	return found
}

// modulesOf returns the modules that a statement imports, with the first of
// their parts where these may be packages of their own.
func modulesOf(text string) (modules []string) {
	if parts := importStatement.FindStringSubmatch(text); parts != nil {
		for item := range strings.SplitSeq(parts[1], ",") {
			if module := modulePath.FindString(strings.TrimSpace(item)); module != "" {
				modules = append(modules, strings.Join(strings.Fields(module), ""))
			}
		}
	}
	parts := fromStatement.FindStringSubmatch(text)
	if parts == nil {
		return modules
	}
	if !isNamespace(parts[1]) {
		return append(modules, parts[1])
	}
	for item := range strings.SplitSeq(strings.Trim(parts[2], "() "), ",") {
		if name := modulePath.FindString(strings.TrimSpace(item)); name != "" {
			modules = append(modules, parts[1]+"."+name)
		}
	}
	return modules
}

// statements takes a program of Python apart.
func statements(text string) (all []statement) {
	s := scanner{text: text, line: 1}
	for s.at < len(s.text) {
		if next := s.statement(); next.text != "" {
			all = append(all, next)
		}
	}
	return all
}

// scanner reads a program of Python from its beginning.
type scanner struct {
	text     string
	at, line int
	indent   int // of the line
	inLine   bool
}

// statement reads to the end of a statement.
func (s *scanner) statement() statement {
	if !s.inLine {
		s.indent = 0
		for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
			s.at++
			s.indent++
		}
	}
	found := statement{line: s.line, indent: s.indent}
	var text strings.Builder
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '#':
			s.skipComment()
			continue
		case c == '"' || c == '\'':
			s.skipString()
			text.WriteString(`""`)
			continue
		case c == '\\' && s.follows("\n"):
			s.line, s.at = s.line+1, s.at+2
			text.WriteByte(' ')
			continue
		case c == '\n' && depth == 0, c == ';' && depth == 0:
			s.inLine = c == ';'
			s.advance()
			found.text = strings.TrimSpace(text.String())
			return found
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(depth-1, 0)
		}
		if c := s.text[s.at]; c == '\n' {
			text.WriteByte(' ')
		} else {
			text.WriteByte(c)
		}
		s.advance()
	}
	found.text = strings.TrimSpace(text.String())
	return found
}

// advance passes one byte.
func (s *scanner) advance() {
	if s.text[s.at] == '\n' {
		s.line++
	}
	s.at++
}

func (s *scanner) follows(next string) bool { return strings.HasPrefix(s.text[s.at+1:], next) }

func (s *scanner) skipComment() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
}

// skipString passes a string, and where its end is missing the line.
func (s *scanner) skipString() {
	quote := s.text[s.at : s.at+1]
	long := strings.HasPrefix(s.text[s.at:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	s.at += len(quote)
	for s.at < len(s.text) {
		switch {
		case strings.HasPrefix(s.text[s.at:], quote):
			s.at += len(quote)
			return
		case s.text[s.at] == '\n' && !long:
			return
		case s.text[s.at] == '\\' && s.at+1 < len(s.text):
			s.advance()
		}
		s.advance()
	}
}
