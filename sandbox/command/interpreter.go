package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// scriptHeadBytes is how much of a script is read to choose its interpreter.
// Linux itself reads 256 bytes of a shebang line; other systems read more.
const scriptHeadBytes = 4 << 10

// byExtension lists, best first, the command lines that run a kind of script.
// Extensions are lower-case.
var byExtension = map[string][][]string{
	".awk":  {{"awk", "-f"}},
	".bash": {{"bash"}},
	".cjs":  {{"node"}},
	".fish": {{"fish"}},
	".js":   {{"node"}},
	".lua":  {{"lua"}},
	".mjs":  {{"node"}},
	".mts":  {{"node"}},
	".php":  {{"php"}},
	".pl":   {{"perl"}},
	".ps1":  {{"pwsh", "-NoProfile", "-File"}, {"powershell", "-NoProfile", "-File"}},
	".py":   {{"python3"}, {"python"}},
	".r":    {{"Rscript"}},
	".rb":   {{"ruby"}},
	".sh":   {{"bash"}, {"sh"}},
	".ts":   {{"tsx"}, {"node"}}, // node strips types itself since 22.18
	".zsh":  {{"zsh"}},
}

// executableMagics start the files that a system runs without interpreter:
// ELF, PE and the Mach-O variants.
var executableMagics = []string{
	"\x7fELF", "MZ",
	"\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
}

// interpreters returns the command lines, best first, that run a script of the
// skill in dir: by its shebang, else by its extension. It returns nil for a
// native executable, which needs none.
func interpreters(dir, script string) ([][]string, error) {
	head, mode, err := readHead(dir, script)
	if err != nil {
		return nil, err
	}
	if choices := shebang(head); choices != nil {
		return choices, nil
	}
	if choices := byExtension[strings.ToLower(path.Ext(script))]; choices != nil {
		return choices, nil
	}
	isExecutable := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	if mode.Perm()&0o111 != 0 && slices.ContainsFunc(executableMagics, isExecutable) {
		return nil, nil
	}
	return nil, &sandbox.SetupError{
		Rule:    "interpreter-unknown",
		Message: fmt.Sprintf("nothing tells how to run %q: it has no shebang line, no known extension and is no executable", script),
		Hint:    "Run it with a shell command that names its interpreter, or read it and do what it says.",
	}
}

// Interpreters returns the programs, best first, of which one is needed to run a
// script of the skill in dir: names to be looked up on the sandbox's PATH, or
// absolute paths. It returns none for a native executable. Errors are of type
// [sandbox.SetupError]; they say too that a file is no script.
func Interpreters(dir, script string) ([]string, error) {
	choices, err := interpreters(dir, script)
	if err != nil {
		return nil, err
	}
	programs := make([]string, 0, len(choices))
	for _, choice := range choices {
		programs = append(programs, choice[0])
	}
	return programs, nil
}

// readHead returns the start of a script and its mode.
func readHead(dir, script string) ([]byte, fs.FileMode, error) {
	if !fs.ValidPath(script) || script == "." || strings.ContainsRune(script, '\\') {
		return nil, 0, &sandbox.SetupError{
			Rule:    "script-missing",
			Message: fmt.Sprintf("%q is not a path inside the skill", script),
			Hint:    "Give a path relative to the skill's directory, with slashes and without \"..\".",
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, sandbox.MissingDir("skill", err)
	}
	defer root.Close()
	// Without O_NONBLOCK opening a FIFO would wait for a writer.
	file, err := root.OpenFile(script, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, missingScript(root, script, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, missingScript(root, script, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &sandbox.SetupError{
			Rule:    "script-not-file",
			Message: fmt.Sprintf("%q is not a regular file", script),
			Hint:    suggest(root, script),
		}
	}
	head := make([]byte, scriptHeadBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, missingScript(root, script, err)
	}
	return head[:n], info.Mode(), nil
}

func missingInterpreter(script string, choices [][]string) error {
	var names []string
	for _, choice := range choices {
		names = append(names, path.Base(choice[0]))
	}
	// A shebang with an absolute path is also looked for by its base name.
	wanted := strings.Join(slices.Compact(names), " or ")
	return &sandbox.SetupError{
		Rule:    "interpreter-missing",
		Message: fmt.Sprintf("%q needs %s, which is not installed in the sandbox", script, wanted),
		Hint:    fmt.Sprintf("Tell the user that %s has to be installed, or do the work in another way.", wanted),
	}
}
