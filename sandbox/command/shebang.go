package command

import (
	"bytes"
	"path"
	"strings"
)

// interpreterAliases are other names of an interpreter.
var interpreterAliases = map[string]string{"python": "python3", "nodejs": "node"}

// shebang returns the command lines, best first, that the first line of a
// script asks for, or nil where there is none. Unlike Linux it splits the
// line at every blank, as macOS and "env -S" do: what a script's author means
// by "#!/usr/bin/env python3 -u" is plain. A byte order mark and a carriage
// return do not matter.
func shebang(head []byte) [][]string {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	line, found := bytes.CutPrefix(head, []byte("#!"))
	if !found {
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 || strings.ContainsRune(string(line), 0) {
		return nil
	}
	if path.Base(words[0]) == "env" {
		words = withoutEnv(words)
	}
	return variants(words)
}

// withoutEnv takes "env" and its -S off a command line. Where env has more to
// do than to find a program, it stays.
func withoutEnv(words []string) []string {
	rest := words[1:]
	if len(rest) == 0 {
		return words
	}
	option, joined := rest[0], ""
	switch {
	case option == "-S", option == "--split-string":
		rest = rest[1:]
	case strings.HasPrefix(option, "-S"):
		joined = option[len("-S"):]
	case strings.HasPrefix(option, "--split-string="):
		joined = option[len("--split-string="):]
	}
	if joined != "" {
		rest = append([]string{joined}, rest[1:]...)
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") || strings.Contains(rest[0], "=") {
		return append([]string{words[0]}, rest...)
	}
	return rest
}

// variants returns a command line with the program as written, then by its
// base name, for systems that keep it elsewhere, then by its alias.
func variants(words []string) [][]string {
	program, args := words[0], words[1:]
	all := [][]string{words}
	base := path.Base(program)
	if base != program {
		all = append(all, append([]string{base}, args...))
	}
	if alias, ok := interpreterAliases[base]; ok {
		all = append(all, append([]string{alias}, args...))
	}
	return all
}
