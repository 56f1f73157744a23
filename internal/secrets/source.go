package secrets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// kind is what reads a value.
type kind string

const (
	environment kind = "env"
	file        kind = "file"
	command     kind = "command"
	keyring     kind = "keyring"
)

// forms are shown where a text is no source. The text itself is not: it may be
// the value that somebody took for its source.
const forms = "env:NAME, file:/PATH, command:PROGRAM ARGUMENTS, keyring:SERVICE/ACCOUNT"

// maxSourceBytes bounds the text of a source.
const maxSourceBytes = 4 << 10

// Source says where the value of a secret is. It holds no value, and can be
// shown to the user whose configuration it is from; a path or command is not for
// clients. Two are equal where they read the same.
type Source struct {
	kind kind
	text string // after the kind and its colon
}

// Environment returns the source that reads a variable of the server's own
// environment: what is meant where a secret is named and nothing else is said.
func Environment(name string) Source { return Source{environment, name} }

// Parse reads one of
//
//	env:NAME                  a variable of the server's environment
//	file:/PATH, file:~/PATH   the content of a file
//	command:PROGRAM ARGS...   what a program writes; no shell, but its quotes
//	keyring:SERVICE/ACCOUNT   the system's keyring
//
// An error says what is wrong, and never holds the text.
func Parse(text string) (Source, error) {
	name, rest, _ := strings.Cut(text, ":")
	source := Source{kind(name), rest}
	check, known := map[kind]func(string) error{environment: checkVariable, file: checkPath, command: checkCommand, keyring: checkAccount}[source.kind]
	switch {
	case !known:
		return Source{}, fmt.Errorf("it is no source of a secret: it is one of %s", forms)
	case len(text) > maxSourceBytes:
		return Source{}, fmt.Errorf("it is longer than %d bytes", maxSourceBytes)
	case strings.ContainsFunc(text, isControl):
		return Source{}, errors.New("it holds a control character")
	}
	if err := check(rest); err != nil {
		return Source{}, err
	}
	return source, nil
}

// String returns the text that [Parse] reads as the source.
func (s Source) String() string { return string(s.kind) + ":" + s.text }

// Kind returns "env", "file", "command" or "keyring": what clients may know of
// a source.
func (s Source) Kind() string { return string(s.kind) }

// File returns the absolute path of the file that holds the value, or nothing.
func (s Source) File() string {
	if s.kind != file {
		return ""
	}
	path, _ := expandHome(s.text) // without a home it is not read
	return path
}

// Runs returns the absolute paths that are run or named where a value is read: by
// changing what is there one could have the user run something else.
func (s Source) Runs() (files []string) {
	if s.kind != command {
		return nil
	}
	argv, _ := words(s.text)
	for i, word := range argv {
		if i == 0 {
			word, _ = findProgram(word)
		}
		if filepath.IsAbs(word) {
			files = append(files, word)
		}
	}
	return files
}

func isControl(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 }

func checkVariable(name string) error {
	if name == "" || strings.ContainsAny(name, "= ") {
		return errors.New("env: needs the name of a variable, as in env:API_TOKEN")
	}
	return nil
}

func checkPath(path string) error {
	if below, ok := strings.CutPrefix(path, "~/"); ok && below != "" || filepath.IsAbs(path) {
		return nil
	}
	return errors.New("file: needs an absolute path, or one that begins with ~/")
}

func checkCommand(text string) error {
	_, err := words(text)
	return err
}

func checkAccount(text string) error {
	if service, account := splitAccount(text); service == "" || account == "" {
		return errors.New("keyring: needs SERVICE/ACCOUNT, as in keyring:example.com/me")
	}
	return nil
}

// splitAccount cuts at the last slash: a service may be a URL.
func splitAccount(text string) (service, account string) {
	slash := strings.LastIndexByte(text, '/')
	if slash < 0 {
		return "", ""
	}
	return text[:slash], text[slash+1:]
}

// expandHome returns a path with the user's home directory in the place of a
// leading ~.
func expandHome(path string) (string, error) {
	below, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("there is no home directory for ~")
	}
	return filepath.Join(home, below), nil
}
